from slugs import slug


def test_words_are_joined():
    assert slug("A Walk, by Night") == "a-walk-by-night"


def test_a_long_title_is_cut():
    assert len(slug("word " * 40)) <= 40


if __name__ == "__main__":
    test_words_are_joined()
    test_a_long_title_is_cut()
    print("ok")
