module example.org/lines

go 1.20
