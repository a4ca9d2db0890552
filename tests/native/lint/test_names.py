"""Names beyond the seeded files."""

from tests.native.lint.test_lint import found


def test_the_nearest_name_is_offered() -> None:
    (one,) = found('frontend f\n  use_backend "shopp" if { path /shopp }\nbackend shop\n', "name-undefined")
    assert one.new_line == 'use_backend "shop" if { path /shopp }'
    assert one.others == ("backend/shop",)


def test_names_that_cannot_be_known_make_no_backend_unused() -> None:
    backend = "backend b\n"
    assert found(backend, "backend-unused")
    for line in ("use_backend %[path]", 'use_backend "${X}"', "use_backend %[path,map(/x/unread.map)]", "filter spoe engine e config /x"):
        assert found(f"frontend f\n  {line}\n{backend}", "backend-unused") == []
    assert found("global\n  lua-load /x.lua\nbackend b\n", "backend-unused") == []
