"""The picture of the packages is that of the imports, and CONTRIBUTING.md names what there is."""

import ast
import re
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import pytest

import robustgc
from tools import floor_plan

SOURCE = Path(robustgc.__file__).parent
REPOSITORY = SOURCE.parents[1]
TEXT = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"
KEPT = (REPOSITORY / "docs" / "floor-plan.svg").read_text(encoding="utf-8")
# `path.py`, `path.py: name, name.method`; NAME stands for what the reader makes.
PLACES = [
    (path, names)
    for path, names in re.findall(r"`([\w./]+\.(?:py|md))(?:: ([^`]+))?`", TEXT)
    if "NAME" not in path
]


def drawn(picture):
    """Return the sentences that the arrows of a picture have."""
    return [title.text for title in ET.fromstring(picture).iterfind(f"{SVG}path/{SVG}title")]


@pytest.fixture
def house(tmp_path):
    """Return a small source tree: cli -> solve -> graph, and cli -> draw when it is needed."""
    files = {
        "__init__": '"""Ours."""\nfrom robustgc.solve.cg import solve\n',
        "graph/__init__": '"""Hold `weights`."""',
        "graph/csr": "",
        "solve/__init__": '"""Solve systems."""',
        "solve/cg": "from robustgc.graph import csr\n",
        "draw/__init__": '"""Draw graphs."""',
        "draw/svg": "",
        "cli/__init__": '"""Run commands."""',
        "cli/app": "import robustgc.solve.cg\n\ndef run():\n    from robustgc.draw import svg\n",
    }
    for name, text in files.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_the_picture_is_that_of_the_imports():
    assert KEPT == floor_plan.draw(), "run python tools/floor_plan.py"
    boxes = [text.text for text in ET.fromstring(KEPT).iterfind(f"{SVG}g/{SVG}text[@class='name']")]
    packages = [f"{path.parent.name}/" for path in SOURCE.glob("*/__init__.py")]
    assert sorted(boxes) == sorted(["api.py", *packages])


def test_arrows_that_follow_from_others_are_not_drawn(house):
    assert drawn(floor_plan.draw(house)) == [
        "cli imports draw when it is needed", "cli imports solve", "solve imports graph",
    ]  # fmt: skip
    (house / "cli/app.py").write_text("import robustgc.solve.cg, robustgc.graph.csr\n")
    assert drawn(floor_plan.draw(house)) == ["cli imports solve", "solve imports graph"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("from robustgc.draw import svg\n", "solve imports draw"),
        ("import robustgc.draw.svg\n", "solve imports draw"),
        ("from robustgc import draw\n", "solve imports draw"),
        ("def f():\n    return import_module(f'robustgc.draw.{name}')\n",
         "solve imports draw when it is needed"),
        ("if TYPE_CHECKING:\n    from robustgc.draw import svg\n",
         "solve imports draw when it is needed"),
        ("def f():\n    import robustgc.cli.app\n", "solve imports cli when it is needed"),
    ],
)  # fmt: skip
def test_a_new_import_makes_another_picture(house, line, said):
    before = floor_plan.draw(house)
    assert floor_plan.draw(house) == before
    (house / "solve/cg.py").write_text(f"from robustgc.graph import csr\n{line}")
    after = floor_plan.draw(house)
    assert after != before
    assert said in drawn(after)


def test_a_circle_is_named(house):
    (house / "graph/csr.py").write_text("import robustgc.cli.app\n")
    with pytest.raises(SystemExit, match=r"in a circle: .*graph -> .*"):
        floor_plan.draw(house)


def test_a_stale_picture_is_told(house, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(floor_plan, "SOURCE", house)
    monkeypatch.setattr(floor_plan, "PICTURE", tmp_path / "plan.svg")
    assert floor_plan.main(["--check"]) == 1
    assert "run python tools/floor_plan.py" in capsys.readouterr().err
    assert floor_plan.main([]) == 0
    assert floor_plan.main(["--check"]) == 0


def test_text_stays_in_its_box():
    for group in ET.fromstring(KEPT).iterfind(f"{SVG}g"):
        box = group.find(f"{SVG}rect").attrib
        right, bottom = (
            float(box[a]) + float(box[b]) for a, b in (("x", "width"), ("y", "height"))
        )
        assert 0 <= float(box["x"]) < right <= floor_plan.WIDTH
        for text in group.iterfind(f"{SVG}text"):
            wide = floor_plan.text_width(text.text, floor_plan.BODY)
            assert float(text.attrib["x"]) + wide <= right - 8
            assert float(text.attrib["y"]) <= bottom - 6


def test_contributing_lists_the_packages_in_the_order_of_their_imports():
    listed = re.findall(r"^\| `(\w+)(?:/|\.py)` \|", TEXT, re.MULTILINE)
    sentences, lazy = floor_plan.read_imports(SOURCE)
    assert sorted(listed) == sorted(sentences)
    up = {arrow.ends[::-1] for arrow in floor_plan.arrows(lazy) if arrow.up}
    for upper, lower in lazy.keys() - up:
        assert listed.index(upper) < listed.index(lower), f"{upper} imports {lower}"


@cache
def names_in(path):
    """Return the names that a file defines, and those of its classes as Class.name."""

    def targets(node):
        found = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
        return [part.id for one in found for part in ast.walk(one) if isinstance(part, ast.Name)]

    def defined(body, before=""):
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                yield before + node.name
                if isinstance(node, ast.ClassDef):
                    yield from defined(node.body, f"{node.name}.")
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                yield from (before + name for name in targets(node))

    return set(defined(ast.parse(path.read_text(encoding="utf-8")).body))


@pytest.mark.parametrize(("path", "names"), sorted(set(PLACES)))
def test_what_contributing_names_is_there(path, names):
    file = next((file for file in (SOURCE / path, REPOSITORY / path) if file.is_file()), None)
    assert file is not None, f"CONTRIBUTING.md names {path}, which is not there"
    lost = [name for name in names.split(", ") if name and name not in names_in(file)]
    assert not lost, f"CONTRIBUTING.md looks for {lost} in {path}"


def test_the_table_is_not_read_in_vain():
    assert len(PLACES) > 120
    assert ("models/paper.py", "robust") in PLACES
    assert "RobustGC.update" in names_in(SOURCE / "estimators" / "robust.py")
    assert "Robust" not in names_in(SOURCE / "estimators" / "robust.py")
