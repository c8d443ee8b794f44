//! The types of files by their names and extensions, as data.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Extensions of each type, in lower case.
pub(super) const EXTENSIONS: &[(&str, &str)] = &[
    // Prose and data.
    ("text/markdown", "md markdown mdown mkd mdx txt text log"),
    ("text/x-rst", "rst rest"),
    ("text/x-asciidoc", "adoc asciidoc"),
    ("text/x-org", "org"),
    ("text/x-tex", "tex sty cls bib"),
    ("text/csv", "csv"),
    ("text/tab-separated-values", "tsv tab"),
    ("text/calendar", "ics"),
    ("text/vcard", "vcf"),
    ("text/vtt", "vtt"),
    ("text/x-diff", "diff patch"),
    ("application/rtf", "rtf"),
    ("message/rfc822", "eml"),
    ("application/json", "json har map avsc"),
    ("application/geo+json", "geojson"),
    ("application/ld+json", "jsonld"),
    ("application/manifest+json", "webmanifest"),
    ("application/x-ipynb+json", "ipynb"),
    ("application/json5", "json5 jsonc"),
    ("application/x-ndjson", "jsonl ndjson"),
    ("application/yaml", "yaml yml"),
    ("application/toml", "toml"),
    ("text/x-ini", "ini cfg conf properties desktop service editorconfig"),
    ("application/xml", "xml xsd xsl xslt wsdl plist xaml resx"),
    ("application/xml", "csproj vbproj fsproj props targets"),
    ("application/xhtml+xml", "xhtml"),
    ("application/rss+xml", "rss"),
    ("application/atom+xml", "atom"),
    ("image/svg+xml", "svg"),
    ("text/html", "html htm"),
    ("application/x-pem-file", "pem crt csr"),
    // Source.
    ("text/css", "css"),
    ("text/x-scss", "scss sass"),
    ("text/x-less", "less"),
    ("text/javascript", "js mjs cjs jsx"),
    ("text/x-typescript", "ts mts cts tsx"),
    ("text/x-vue", "vue"),
    ("text/x-svelte", "svelte"),
    ("text/x-rust", "rs"),
    ("text/x-go", "go"),
    ("text/x-c", "c h"),
    ("text/x-c++", "cc cpp cxx c++ hh hpp hxx h++ ipp tpp"),
    ("text/x-objective-c", "m mm"),
    ("text/x-cuda", "cu cuh"),
    ("text/x-csharp", "cs csx"),
    ("text/x-fsharp", "fs fsx fsi"),
    ("text/x-vb", "vb"),
    ("text/x-java", "java"),
    ("text/x-kotlin", "kt kts"),
    ("text/x-scala", "scala sc sbt"),
    ("text/x-groovy", "groovy gradle"),
    ("text/x-clojure", "clj cljs cljc edn"),
    ("text/x-python", "py pyi pyw"),
    ("text/x-cython", "pyx pxd"),
    ("text/x-ruby", "rb rake gemspec"),
    ("text/x-erb", "erb"),
    ("text/x-perl", "pl pm"),
    ("application/x-httpd-php", "php phtml"),
    ("text/x-lua", "lua"),
    ("text/x-swift", "swift"),
    ("text/x-dart", "dart"),
    ("text/x-elixir", "ex exs heex"),
    ("text/x-erlang", "erl hrl"),
    ("text/x-haskell", "hs lhs"),
    ("text/x-ocaml", "ml mli"),
    ("text/x-elm", "elm"),
    ("text/x-purescript", "purs"),
    ("text/x-zig", "zig zon"),
    ("text/x-nim", "nim"),
    ("text/x-crystal", "cr"),
    ("text/x-d", "d"),
    ("text/x-julia", "jl"),
    ("text/x-r", "r rmd"),
    ("text/x-fortran", "f f90 f95 f03"),
    ("text/x-pascal", "pas pp"),
    ("text/x-ada", "adb ads"),
    ("text/x-cobol", "cob cbl"),
    ("text/x-lisp", "lisp lsp cl el"),
    ("text/x-scheme", "scm ss rkt"),
    ("text/x-tcl", "tcl"),
    ("text/x-asm", "asm s"),
    ("text/x-llvm", "ll"),
    ("text/x-wat", "wat wast"),
    ("text/x-verilog", "v vh sv svh"),
    ("text/x-vhdl", "vhd vhdl"),
    ("text/x-glsl", "glsl vert frag comp"),
    ("text/x-wgsl", "wgsl"),
    ("text/x-hlsl", "hlsl"),
    ("text/x-solidity", "sol"),
    ("text/x-shellscript", "sh bash zsh ksh bats"),
    ("text/x-fish", "fish"),
    ("text/x-powershell", "ps1 psm1 psd1"),
    ("text/x-batch", "bat cmd"),
    ("text/x-awk", "awk"),
    ("text/x-vim", "vim"),
    ("text/x-nix", "nix"),
    ("text/x-terraform", "tf tfvars hcl"),
    ("text/x-starlark", "bzl bazel star"),
    ("text/x-cmake", "cmake"),
    ("text/x-makefile", "mk mak"),
    ("text/x-dockerfile", "dockerfile"),
    ("text/x-protobuf", "proto"),
    ("text/x-thrift", "thrift"),
    ("text/x-capnp", "capnp"),
    ("application/graphql", "graphql gql"),
    ("application/sql", "sql"),
    ("text/x-dot", "dot gv"),
    ("text/x-template", "hbs mustache j2 jinja tmpl liquid ejs"),
    // What is no text.
    ("image/png", "png"),
    ("image/jpeg", "jpg jpeg jpe"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/avif", "avif"),
    ("image/heic", "heic heif"),
    ("image/bmp", "bmp"),
    ("image/tiff", "tif tiff"),
    ("image/x-icon", "ico"),
    ("image/vnd.adobe.photoshop", "psd"),
    ("application/pdf", "pdf"),
    ("application/epub+zip", "epub"),
    ("application/msword", "doc"),
    ("application/vnd.ms-excel", "xls"),
    ("application/vnd.ms-powerpoint", "ppt"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
    ("application/vnd.oasis.opendocument.text", "odt"),
    ("application/vnd.oasis.opendocument.spreadsheet", "ods"),
    ("audio/mpeg", "mp3"),
    ("audio/wav", "wav"),
    ("audio/ogg", "ogg oga opus"),
    ("audio/flac", "flac"),
    ("audio/mp4", "m4a"),
    ("video/mp4", "mp4 m4v"),
    ("video/webm", "webm"),
    ("video/quicktime", "mov"),
    ("video/x-matroska", "mkv"),
    ("font/ttf", "ttf"),
    ("font/otf", "otf"),
    ("font/woff", "woff"),
    ("font/woff2", "woff2"),
    ("application/zip", "zip whl"),
    ("application/java-archive", "jar war ear"),
    ("application/x-tar", "tar"),
    ("application/gzip", "gz tgz"),
    ("application/x-bzip2", "bz2 tbz2"),
    ("application/x-xz", "xz txz"),
    ("application/zstd", "zst"),
    ("application/x-7z-compressed", "7z"),
    ("application/vnd.rar", "rar"),
    ("application/wasm", "wasm"),
    ("application/java-vm", "class"),
    ("application/vnd.microsoft.portable-executable", "exe dll"),
    ("application/vnd.sqlite3", "sqlite sqlite3 db"),
    ("application/vnd.debian.binary-package", "deb"),
    ("application/octet-stream", "bin dat o a so dylib obj lib pyc pyo rlib rmeta node"),
    ("application/octet-stream", "pack idx pkl npy npz"),
    ("application/vnd.apache.parquet", "parquet"),
];

/// Names of files of each type, in lower case.
pub(super) const NAMES: &[(&str, &str)] = &[
    ("text/x-makefile", "makefile gnumakefile kbuild"),
    ("text/x-dockerfile", "dockerfile containerfile"),
    ("text/x-cmake", "cmakelists.txt"),
    ("text/x-just", "justfile .justfile"),
    ("text/x-ruby", "gemfile rakefile vagrantfile podfile brewfile guardfile"),
    ("text/x-groovy", "jenkinsfile"),
    ("text/x-go-mod", "go.mod go.sum go.work"),
    ("text/x-shellscript", ".bashrc .bash_profile .profile .envrc .env pkgbuild"),
    ("text/x-shellscript", ".zshrc .zshenv .zprofile"),
    ("text/x-ignore", ".gitignore .dockerignore .ignore .npmignore .prettierignore"),
    ("text/x-ini", ".gitconfig .gitattributes .gitmodules .editorconfig .npmrc .pylintrc"),
    ("application/toml", "cargo.lock poetry.lock uv.lock pipfile"),
    ("application/json", "pipfile.lock composer.lock flake.lock"),
];

/// Types that are texts of lines although their names do not say so.
pub(super) const TEXTS: &[&str] = &[
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/json5",
    "application/jsonl",
    "application/rtf",
    "application/sql",
    "application/toml",
    "application/typescript",
    "application/x-httpd-php",
    "application/x-ndjson",
    "application/x-pem-file",
    "application/x-sh",
    "application/x-yaml",
    "application/yaml",
    "message/rfc822",
];

pub(super) fn of_extension(extension: &str) -> Option<&'static str> {
    static TYPES: LazyLock<Types> = LazyLock::new(|| types(EXTENSIONS));
    found(&TYPES, extension)
}

pub(super) fn of_name(name: &str) -> Option<&'static str> {
    static TYPES: LazyLock<Types> = LazyLock::new(|| types(NAMES));
    found(&TYPES, name)
}

/// A table by its words, in lower case: a catalog asks for each file there is.
type Types = HashMap<String, &'static str>;

fn types(table: &[(&'static str, &str)]) -> Types {
    let mut types = Types::new();
    for (mime, words) in table {
        for word in words.split(' ') {
            types.entry(word.to_ascii_lowercase()).or_insert(mime);
        }
    }
    types
}

fn found(types: &Types, word: &str) -> Option<&'static str> {
    types.get(word.to_ascii_lowercase().as_str()).copied()
}
