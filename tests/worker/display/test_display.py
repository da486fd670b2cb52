"""Rich results: the display protocol, the order of displays, formatters of libraries, size limits."""

import base64
import json
import unittest

from harness import WorkerCase

THING = "class Thing:\n  def __repr__(self): return 'a thing'\n"


def thing(**methods):
    """Source of a class with these representation methods; each value is the source of a result."""
    return THING + "".join(f"  def {name}(self, **options): return {result}\n" for name, result in methods.items())


class Values(WorkerCase):
    def bundle(self, code):
        status, displays = self.worker.shown(code)
        self.assertEqual((status["status"], displays), ("ok", []), status)
        return status["value"]

    def complaint(self):
        return self.worker.err.drain().decode()

    def test_every_method_of_the_protocol_is_a_representation(self):
        code = thing(
            _repr_html_="'<b>'", _repr_markdown_="'# m'", _repr_svg_="'<svg/>'", _repr_png_="b'png'",
            _repr_jpeg_="b'jpeg'", _repr_pdf_="b'pdf'", _repr_latex_="'$x$'", _repr_json_="{'a': [1]}",
            _repr_javascript_="'alert(1)'")
        encoded = {name: base64.b64encode(name.encode()).decode() for name in ("png", "jpeg", "pdf")}
        self.assertEqual(self.bundle(code + "Thing()"), {
            "text/plain": "a thing", "text/html": "<b>", "text/markdown": "# m", "image/svg+xml": "<svg/>",
            "image/png": encoded["png"], "image/jpeg": encoded["jpeg"], "application/pdf": encoded["pdf"],
            "text/latex": "$x$", "application/json": '{"a":[1]}', "application/javascript": "alert(1)"})

    def test_a_mime_bundle_takes_precedence_and_may_have_metadata(self):
        code = thing(_repr_mimebundle_="({'text/html': 'bundle', 'x/y': b'z'}, {'meta': 1})", _repr_html_="'method'",
                     _repr_latex_="('$y$', {'meta': 1})")
        self.assertEqual(self.bundle(code + "Thing()"), {
            "text/plain": "a thing", "text/html": "bundle", "x/y": "eg==", "text/latex": "$y$"})
        code = thing(_repr_mimebundle_="{'text/plain': 'own text', 'application/x+json': {'nan': float('nan')}}")
        self.assertEqual(self.bundle(code + "Thing()"), {"text/plain": "own text", "application/x+json": '{"nan":null}'})

    def test_a_failing_representation_does_not_lose_the_others(self):
        code = thing(_repr_html_="1/0", _repr_png_="12", _repr_latex_="'$x$'", _repr_mimebundle_="{}[0]", _repr_json_="object()")
        self.assertEqual(self.bundle(code + "Thing()"), {"text/plain": "a thing", "text/latex": "$x$"})
        complaint = self.complaint()
        for part in ("_repr_html_ failed", "ZeroDivisionError", "_repr_mimebundle_ failed", "_repr_png_: image/png is left out: TypeError",
                     "_repr_json_: application/json is left out: TypeError"):
            self.assertIn(part, complaint)
        self.assertNotIn("mime_bundles.py", complaint)

    def test_a_failing_repr_is_an_error_unless_there_is_another_representation(self):
        code = "class Thing:\n  def __repr__(self): 1/0\n"
        self.assertEqual(self.worker.run(code + "Thing()")["error"]["name"], "ZeroDivisionError")
        self.assertEqual(self.bundle(code + "  def _repr_html_(self): return 'x'\nThing()"),
                         {"text/plain": "<Thing: repr() failed>", "text/html": "x"})
        self.complaint()

    def test_methods_of_classes_and_of_objects_with_every_attribute_are_not_called(self):
        code = thing(_repr_html_="'x'")
        self.assertEqual(self.bundle(code + "Thing"), {"text/plain": "<class '__main__.Thing'>"})
        for made in ("from unittest.mock import MagicMock as Made", "class Made:\n  def __getattr__(self, name): return lambda *a, **k: 'x'",
                     "class Made:\n  def __getattr__(self, name): 1/0"):
            self.assertEqual(list(self.bundle(f"{made}\nMade()")), ["text/plain"], made)
        self.assertEqual(self.complaint(), "")

    def test_not_implemented_and_none_mean_no_representation(self):
        code = THING + "  def _repr_html_(self): raise NotImplementedError\n  def _repr_png_(self): return None\n  _repr_svg_ = 'no method'\n"
        self.assertEqual(self.bundle(code + "Thing()"), {"text/plain": "a thing"})
        self.assertEqual(self.complaint(), "")

    def test_a_representation_that_is_too_large_is_omitted_and_listed(self):
        code = thing(_repr_html_="'é' * (3 << 20)", _repr_markdown_="'m'", _repr_png_="bytes(13 << 20)")
        bundle = self.bundle(code + "Thing()")
        self.assertEqual({**bundle, "application/vnd.rlm.omitted+json": json.loads(bundle["application/vnd.rlm.omitted+json"])}, {
            "text/plain": "a thing", "text/markdown": "m", "application/vnd.rlm.omitted+json": [
                {"type": "text/html", "bytes": (3 << 20) * 6 + 2}, {"type": "image/png", "bytes": (13 << 20) // 3 * 4 + 4}]})

    def test_a_representation_can_be_interrupted(self):
        execution = self.worker.send(THING + "  def _repr_html_(self):\n    print('in it', flush=True)\n    while True: pass\nThing()")
        self.worker.out.until(b"in it")
        self.worker.interrupt()
        self.assertEqual(self.worker.status(execution)["status"], "interrupted")
        self.assertEqual(self.worker.value("1 + 1"), "2")


class Displays(WorkerCase):
    def shown(self, code):
        status, displays = self.worker.shown(code)
        self.assertEqual(status["status"], "ok", status)
        return [event["data"] for event in displays]

    def test_display_shows_objects_in_order(self):
        self.assertEqual(self.shown(thing(_repr_html_="'<b>'") + "display(1, 'two', Thing(), None)"), [
            {"text/plain": "1"}, {"text/plain": "'two'"}, {"text/plain": "a thing", "text/html": "<b>"}, {"text/plain": "None"}])

    def test_include_exclude_and_raw(self):
        code = thing(_repr_html_="'<b>'", _repr_latex_="'$x$'")
        self.assertEqual(self.shown(code + "display(Thing(), include=['text/latex'])"), [{"text/plain": "a thing", "text/latex": "$x$"}])
        self.assertEqual(self.shown("display(Thing(), exclude=['text/latex', 'text/plain'])"), [{"text/html": "<b>"}])
        self.assertEqual(self.shown("display({'text/html': 'raw', 7: 'no', 'n/o': None}, raw=True, metadata={})"), [{"text/html": "raw"}])
        self.assertEqual(self.worker.run("display('x', raw=True)")["error"]["name"], "TypeError")

    def test_output_printed_before_a_display_is_in_the_pipe_first(self):
        execution = self.worker.send("import sys\nprint('before')\nsys.stderr.write('too')\ndisplay(1)\nprint('after')")
        event = self.worker.event()
        self.assertEqual((self.worker.out.drain(), self.worker.err.drain()), (b"before\n", b"too"))
        self.worker.send_aside(cmd="reply", id=execution, call=event["call"], value=None)
        self.worker.status(execution)
        self.assertEqual(self.worker.out.drain(), b"after\n")

    def test_a_display_can_be_replaced_and_cleared(self):
        status, displays = self.worker.shown(
            "h = display('a', display_id=True)\nh.update('b')\ndisplay('c', display_id='mine')\n"
            "from rlm_display import update_display, clear_output\nupdate_display('d', display_id='mine')\n"
            "clear_output()\nclear_output(wait=True)\ndisplay('e')\ndisplay('f')")
        self.assertEqual(status["status"], "ok", status)
        made = displays[0]["displayId"]
        self.assertEqual([{key: value for key, value in event.items() if key not in ("type", "id", "call")} for event in displays], [
            {"data": {"text/plain": "'a'"}, "displayId": made}, {"data": {"text/plain": "'b'"}, "displayId": made, "update": True},
            {"data": {"text/plain": "'c'"}, "displayId": "mine"}, {"data": {"text/plain": "'d'"}, "displayId": "mine", "update": True},
            {"data": {}, "clear": True}, {"data": {"text/plain": "'e'"}, "clear": True}, {"data": {"text/plain": "'f'"}}])
        self.assertEqual(self.worker.run("display(1, display_id='x' * 1000)")["error"]["name"], "ValueError")

    def test_an_object_can_display_itself(self):
        code = thing(_repr_html_="'<b>'", _ipython_display_="display('mine')")
        status, displays = self.worker.shown(code + "Thing()")
        self.assertEqual((status["value"], [event["data"] for event in displays]), ({"text/plain": "a thing"}, [{"text/plain": "'mine'"}]))
        self.assertEqual(self.shown("display(Thing())"), [{"text/plain": "'mine'"}])
        self.assertEqual(self.shown(thing(_repr_html_="'<b>'", _ipython_display_="display(self)") + "display(Thing())"),
                         [{"text/plain": "a thing", "text/html": "<b>"}])
        self.assertEqual(self.shown(thing(_repr_html_="'<b>'", _ipython_display_="1/0") + "display(Thing())"),
                         [{"text/plain": "a thing", "text/html": "<b>"}])
        self.assertIn("_ipython_display_ failed", self.worker.err.drain().decode())

    def test_threads_display_under_their_own_execution(self):
        execution = self.worker.send("import threading\ngo = threading.Event()\ndef late():\n  go.wait()\n  display('late')\n"
                                     "t = threading.Thread(target=late); t.start()")
        self.worker.status(execution)
        status, displays = self.worker.shown("go.set(); t.join()")
        self.assertEqual([event["id"] for event in displays], [execution])

    def test_the_child_of_a_fork_prints_instead_of_displaying(self):
        status, displays = self.worker.shown("import os\npid = os.fork()\nif pid == 0:\n  display('child')\n  os._exit(0)\nos.waitpid(pid, 0)[1]")
        self.assertEqual((status["value"], displays), ({"text/plain": "0"}, []))

    def test_an_interrupt_ends_the_wait_for_the_host(self):
        execution = self.worker.send("display(1)")
        self.worker.event()
        self.worker.interrupt()
        self.assertEqual(self.worker.status(execution)["status"], "interrupted")
        self.assertEqual(self.worker.value("1 + 1"), "2")


NO_IPYTHON = "import sys\nsys.path[:] = [path for path in sys.path if 'packages' not in path]\n"


class Notebooks(WorkerCase):
    """Code written for notebooks, where IPython is not installed."""

    def setUp(self):
        super().setUp()
        self.worker.run(NO_IPYTHON)

    def test_the_classes_of_ipython_display_exist(self):
        code = ("from IPython.display import (display, HTML, Markdown, Latex, Math, SVG, JSON, Javascript, Code, Image, IFrame, Pretty,\n"
                "  clear_output, update_display, DisplayHandle, set_matplotlib_formats)\n"
                "display(HTML('<b>'), Markdown('m'), Latex('$l$'), Math('x^2'), SVG('<svg/>'), JSON({'a': 1}), Javascript('j'),\n"
                "  Code('x < 1'), Image(b'\\xff\\xd8x'), Image(url='http://a/b.png', width=3), Pretty('p'))")
        status, displays = self.worker.shown(code)
        self.assertEqual(status["status"], "ok", status)
        shown = [{mime: data for mime, data in event["data"].items() if mime != "text/plain"} for event in displays]
        self.assertEqual(shown, [
            {"text/html": "<b>"}, {"text/markdown": "m"}, {"text/latex": "$l$"}, {"text/latex": "$\\displaystyle x^2$"},
            {"image/svg+xml": "<svg/>"}, {"application/json": '{"a":1}'}, {"application/javascript": "j"},
            {"text/html": "<pre><code>x &lt; 1</code></pre>"}, {"image/jpeg": "/9h4"},
            {"text/html": '<img src="http://a/b.png" width="3"/>'}, {}])
        self.assertEqual(displays[-1]["data"], {"text/plain": "p"})

    def test_ipython_can_be_imported_and_has_no_shell(self):
        self.assertEqual(self.worker.value("import IPython\nIPython.get_ipython(), IPython.display.HTML('x').data"), "(None, 'x')")
        self.assertEqual(self.worker.value("from IPython import get_ipython\nfrom IPython.core.display import HTML\nget_ipython()"), None)
        self.assertEqual(self.worker.run("import IPython.terminal")["error"]["name"], "ModuleNotFoundError")

    def test_ipython_is_not_loaded_before_it_is_imported(self):
        self.assertEqual(self.worker.value("[name for name in sys.modules if name.startswith(('IPython', 'matplotlib', 'pandas', 'PIL'))]"), "[]")


MAKE_MODULES = """
import os, sys, tempfile
root = tempfile.TemporaryDirectory()
sys.path.insert(0, root.name)
def module(name, source):
    path = os.path.join(root.name, *name.split('.'))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + '.py', 'w') as file: file.write(source)
"""


class Libraries(WorkerCase):
    """Libraries that may not be installed, replaced by small modules of the same shape."""

    def setUp(self):
        super().setUp()
        self.worker.run(MAKE_MODULES)
        self.addCleanup(lambda: self.worker.run("root.cleanup()"))

    def test_plotly_figures_are_data_and_show_displays_them(self):
        status, displays = self.worker.shown("""
module('plotly.__init__', '')
module('plotly.io.__init__', 'from ._renderers import show')
module('plotly.io._renderers', 'def show(fig, *args, **kwargs): raise ValueError("no browser")')
module('plotly.basedatatypes', '''
class BaseFigure:
    def __repr__(self): return "Figure({})"
    def to_json(self): return '{"data": [], "layout": {}}'
    def show(self, *args, **kwargs):
        import plotly.io
        return plotly.io.show(self, *args, **kwargs)
    def _ipython_display_(self): raise ValueError("no renderer")
    def _repr_html_(self): return "x" * 3000000
''')
import plotly.basedatatypes
class Figure(plotly.basedatatypes.BaseFigure): pass
Figure().show()
plotly.io.show({'data': []})
Figure()""")
        expected = {"text/plain": "Figure({})", "application/vnd.plotly.v1+json": '{"data": [], "layout": {}}'}
        plain = {"application/vnd.plotly.v1+json": '{"data":[]}'}
        self.assertEqual((status.get("value"), [event["data"] for event in displays]), (expected, [expected, plain]), status)

    def test_altair_charts_are_their_specification_beside_their_own_bundle(self):
        bundle = self.worker.run("""
module('altair.__init__', 'from .api import Chart')
module('altair.api', '''
class TopLevelMixin:
    def to_dict(self): return {"$schema": "https://vega.github.io/schema/vega-lite/v5.20.1.json", "mark": "bar"}
    def _repr_mimebundle_(self, include=None, exclude=None): return {"text/html": "<div>"}
class Chart(TopLevelMixin):
    def __repr__(self): return "alt.Chart(...)"
''')
import altair
altair.Chart()""")["value"]
        self.assertEqual({**bundle, "application/vnd.vegalite.v5+json": None}, {
            "text/plain": "alt.Chart(...)", "text/html": "<div>", "application/vnd.vegalite.v5+json": None})
        self.assertEqual(json.loads(bundle["application/vnd.vegalite.v5+json"])["mark"], "bar")

    def test_polars_tables_are_text_html_and_data(self):
        bundle = self.worker.run("""
module('polars.__init__', '''
import datetime
class DataFrame:
    def __init__(self, names, dtypes, rows): self.columns, self.dtypes, self._rows = names, dtypes, rows
    shape = property(lambda self: (len(self._rows), len(self.columns)))
    def select(self, names): return DataFrame(names, self.dtypes[:len(names)], self._rows)
    def head(self, n): return DataFrame(self.columns, self.dtypes, self._rows[:n])
    def to_dicts(self): return [dict(zip(self.columns, row)) for row in self._rows]
    def __repr__(self): return "shape: ..."
    def _repr_html_(self): return "<table>"
''')
import datetime, decimal, polars
rows = [(1, float('nan'), datetime.date(2020, 1, 2), decimal.Decimal('1.5'))] * 3000
polars.DataFrame(['a', 'b', 'c', 'd'], ['Int64', 'Float64', 'Date', 'Decimal(1)'], rows)""")["value"]
        data = json.loads(bundle.pop("application/vnd.dataresource+json"))
        self.assertEqual(bundle, {"text/plain": "shape: ...", "text/html": "<table>"})
        self.assertEqual((data["data"][0], len(data["data"]), data["totalRows"], data["totalColumns"]),
                         ({"a": 1, "b": None, "c": "2020-01-02", "d": "1.5"}, 1000, 3000, 4))
        self.assertEqual([field["type"] for field in data["schema"]["fields"]], ["integer", "number", "datetime", "any"])


if __name__ == "__main__":
    unittest.main()
