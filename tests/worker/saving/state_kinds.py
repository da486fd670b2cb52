"""Kinds of objects that a session may define, for the tests of saving and loading."""

import sys

# Code that defines objects, and an expression that is True if they were restored correctly.
KINDS = {
    "identity between variables": ("a = []; b = a; c = (a, b); d = {'a': a}", "b is a and c[0] is c[1] is a and d['a'] is a"),
    "lambda": ("lam = lambda x, *r, k=3, **o: (x, r, k, o)", "lam(1, 2, z=4) == (1, (2,), 3, {'z': 4})"),
    "recursive function": ("def fact(n): return 1 if n < 2 else n * fact(n - 1)", "fact(5) == 120"),
    "defaults and annotations": (
        "def ann(x: int, y: 'str' = 'd', *, z: list = [1]) -> float:\n    'Docs.'\n    return y, z\nann.extra = 5",
        "(ann(1), ann.__annotations__, ann.__doc__, ann.extra, ann.__name__, ann.__qualname__, ann.__module__) == "
        "(('d', [1]), {'x': int, 'y': 'str', 'z': list, 'return': float}, 'Docs.', 5, 'ann', 'ann', '__main__')",
    ),
    "closure shared by two functions": (
        "def pair():\n    n = 0\n    def up():\n        nonlocal n; n += 1; return n\n    def get(): return n\n    return up, get\n"
        "up, get = pair(); up()",
        "(up(), get()) == (2, 2)",
    ),
    "closure that refers to itself": (
        "def make():\n    def inner(n): return n and inner(n - 1)\n    return inner\ninner = make()", "inner(3) == 0"
    ),
    "empty cell": (
        "def hole():\n    def f(): return later\n    if False: later = 1\n    return f\nhollow = hole()",
        "raises(hollow, NameError)",
    ),
    "generator and coroutine functions": (
        "def gen(n):\n    yield from range(n)\nasync def co(): return 5\nasync def agen():\n    yield 1",
        "list(gen(3)) == [0, 1, 2] and __import__('asyncio').run(co()) == 5 and agen().__anext__ is not None",
    ),
    "decorated with a library's closure": (
        "import contextlib\n@contextlib.contextmanager\ndef managed():\n    yield 7", "managed().__enter__() == 7"
    ),
    "partial, methods, builtins": (
        "import functools, operator\npart = functools.partial(max, 3)\nup_ = 'abc'.upper\nget1 = operator.itemgetter(1)\nsize = len",
        "part(2) == 3 and up_() == 'ABC' and get1([1, 2]) == 2 and size is len",
    ),
    "lru_cache": (
        "@functools.lru_cache(maxsize=7, typed=True)\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)",
        "fib(20) == 6765 and fib.cache_parameters() == {'maxsize': 7, 'typed': True} and fib.__wrapped__(1) == 1",
    ),
    "singledispatch": (
        "@functools.singledispatch\ndef kind(x): return 'any'\n@kind.register(int)\ndef kind_int(x): return 'int'",
        "kind(1) == 'int' and kind('') == 'any' and kind.register(str)(lambda x: 'str') and kind('') == 'str'",
    ),
    "class with everything": (
        """
        class Base:
            made = []
            def __init_subclass__(cls, tag=None, **k):
                super().__init_subclass__(**k); Base.made.append((cls.__name__, tag))
            def hello(self): return 'base'
        class Child(Base, tag='t'):
            x: int = 3
            me = None
            def __init__(self, v): self.v = v
            def hello(self): return 'child ' + super().hello()
            @property
            def double(self): 'Doubles.'; return self.v * 2
            @double.setter
            def double(self, new): self.v = new / 2
            @classmethod
            def make(cls): return cls(1)
            @staticmethod
            def free(): return 'free'
            @functools.cached_property
            def slow(self): return self.v + 100
            class Inner: deep = 1
            def __eq__(self, o): return self.v == o.v
            def __hash__(self): return hash(self.v)
        child = Child(4); Child.me = child; keyed = {child: 1}
        """,
        "(child.hello(), child.double, Child.make().v, Child.free(), child.slow, Child.Inner.deep, Child.me is child,"
        " Base.made, keyed[Child(4)], Child.double.__doc__, Child.__annotations__, Child.Inner.__qualname__) == "
        "('child base', 8, 1, 'free', 104, 1, True, [('Child', 't')], 1, 'Doubles.', {'x': int}, 'Child.Inner')"
        " and (setattr(child, 'double', 10), child.v)[1] == 5 and isinstance(child, Base)",
    ),
    "subclass hooks go on": ("pass", "type('Late', (Base,), {}) and Base.made[-1] == ('Late', None)"),
    "slots": (
        "class Slim:\n    __slots__ = ('a', '__b')\n    def __init__(self): self.a = 1; self.__b = 2\n    def both(self): return self.a, self.__b\n"
        "class One:\n    __slots__ = 'only'\nslim = Slim(); one = One(); one.only = slim",
        "slim.both() == (1, 2) and not hasattr(slim, '__dict__') and one.only is slim",
    ),
    "metaclass with state": (
        """
        class Meta(type):
            registry = {}
            def __new__(m, name, bases, ns, **k):
                c = super().__new__(m, name, bases, ns); m.registry[name] = c; c.stamp = 'made'; return c
            def __init__(c, *a, **k): super().__init__(*a); c.count = getattr(c, 'count', 0) + 1
            def __call__(c, *a): o = super().__call__(*a); o.called = True; return o
            def __len__(c): return 42
            def __setattr__(c, name, value):
                if name == 'locked': raise AttributeError(name)
                super().__setattr__(name, value)
        class Made(metaclass=Meta): pass
        made = Made()
        """,
        "len(Made) == 42 and Meta.registry == {'Made': Made} and Made.count == 1 and made.called and type(Made) is Meta and Made().called",
    ),
    "class in a function, and classes that refer to one another": (
        """
        def local():
            class Local:
                def other(self): return Other()
            class Other:
                def back(self): return Local
            return Local
        Local = local(); localised = Local()
        """,
        "localised.other().back() is Local and '<locals>' in Local.__qualname__",
    ),
    "made by type()": ("Dyn = type('Dyn', (dict,), {'x': 1}); dyn = Dyn(a=1)", "dyn == {'a': 1} and dyn.x == 1 and type(dyn) is Dyn"),
    "dataclasses": (
        """
        import dataclasses
        @dataclasses.dataclass(frozen=True, order=True)
        class Frozen:
            x: int
            y: list = dataclasses.field(default_factory=list, compare=False)
        frozen = Frozen(1)
        Made3 = dataclasses.make_dataclass('Made3', ['q'])
        made3 = Made3(5)
        """,
        "Frozen(1) == frozen and Frozen(0) < frozen and raises(lambda: setattr(frozen, 'x', 2), dataclasses.FrozenInstanceError)"
        " and Frozen(2).y is not Frozen(2).y and [f.name for f in dataclasses.fields(frozen)] == ['x', 'y'] and made3 == Made3(5)",
    ),
    "enumerations": (
        """
        import enum
        class Color(enum.Enum):
            RED = 1
            BLUE = (2, 3)
            ALIAS = 1
            def shout(self): return self.name + '!'
        class Num(enum.IntEnum): ONE = 1
        class Perm(enum.Flag):
            R = enum.auto(); W = enum.auto()
        class Planet(enum.Enum):
            EARTH = (5.9, 6.3)
            def __init__(self, mass, radius): self.mass = mass; self.radius = radius
        class Word(str, enum.Enum): HI = 'hi'
        colors = {Color.RED: 'r', Color.BLUE: 'b'}; rw = Perm.R | Perm.W; num = Num.ONE; word = Word.HI; earth = Planet.EARTH
        """,
        "colors[Color(1)] == 'r' and Color['BLUE'] in colors and Color.ALIAS is Color.RED and Color.RED.shout() == 'RED!' and list(Color) == "
        "[Color.RED, Color.BLUE] and num + 1 == 2 and num is Num(1) and rw == Perm(3) and Perm.R in rw and word == 'hi' and word is Word('hi') and "
        "earth.mass == 5.9 and Planet((5.9, 6.3)) is earth and raises(lambda: setattr(Color, 'RED', 5), AttributeError) and isinstance(earth, Planet)",
    ),
    "named tuples": (
        "import collections, typing\nPoint = collections.namedtuple('Point', 'x y', defaults=[9])\n"
        "class Row(typing.NamedTuple):\n    a: int\n    b: str = 'b'\n    def both(self): return self.a, self.b\npoint, row = Point(1), Row(2)",
        "point == (1, 9) and point._replace(x=5) == Point(5) and row.both() == (2, 'b') and Row._field_defaults == {'b': 'b'} and Point._fields == ('x', 'y')",
    ),
    "abstract classes and registration": (
        """
        import abc, collections.abc
        class Shape(abc.ABC):
            @abc.abstractmethod
            def area(self): ...
            @property
            @abc.abstractmethod
            def name(self): ...
        class Sq(Shape):
            name = 'sq'
            def area(self): return 4
        class Duck: pass
        Shape.register(Duck)
        class Seq(collections.abc.Sequence):
            def __len__(self): return 2
            def __getitem__(self, i):
                if i > 1: raise IndexError
                return i
        sq, seq = Sq(), Seq()
        """,
        "isinstance(Duck(), Shape) and sq.area() == 4 and raises(Shape, TypeError) and Shape.__abstractmethods__ == {'area', 'name'} and "
        "list(reversed(seq)) == [1, 0] and isinstance(seq, collections.abc.Sequence) and not isinstance(3, Shape)",
    ),
    "typing": (
        """
        T = typing.TypeVar('T'); N = typing.TypeVar('N', bound=int, covariant=True); AB = typing.TypeVar('AB', int, str)
        class Box(typing.Generic[T]):
            def __init__(self, v: T): self.v = v
        class IntBox(Box[int]): pass
        UserId = typing.NewType('UserId', int)
        class Movie(typing.TypedDict, total=False): title: str
        class Closes(typing.Protocol):
            def close(self) -> None: ...
        @typing.runtime_checkable
        class Runs(typing.Protocol):
            def run(self): ...
        class Runner:
            def run(self): pass
        box = Box[str]('s'); aliases = [typing.List[T], typing.Optional[Box[int]], Box[T]]; uid = UserId(5)
        """,
        "box.v == 's' and Box.__parameters__ == (T,) and aliases[0].__args__[0] is T and aliases[2] == Box[T] and issubclass(IntBox, Box) and "
        "N.__bound__ is int and N.__covariant__ and AB.__constraints__ == (int, str) and UserId(3) == 3 and UserId.__supertype__ is int and "
        "Movie(title='x') == {'title': 'x'} and Movie.__total__ is False and Movie.__annotations__ == {'title': str} and isinstance(Runner(), Runs) and "
        "not isinstance(3, Runs) and IntBox.__orig_bases__ == (Box[int],)",
    ),
    "modules, and the namespace itself": (
        "import os.path as osp, xml.dom, sys\nhere = globals(); me = sys.modules['__main__']; inside = [here, me, sys.stdout, sys.stderr]",
        "osp is __import__('posixpath') and here is globals() and me is sys.modules['__main__'] and inside[0] is here and inside[1] is me and "
        "inside[2] is sys.stdout and inside[3] is sys.stderr and xml.dom.Node",
    ),
    "the library's objects": (
        "import datetime, decimal, fractions, pathlib, re, uuid, collections, logging, io, random as rnd, types, ipaddress, array\n"
        "lib = [datetime.datetime(2020, 2, 29, tzinfo=datetime.timezone.utc), decimal.Decimal('1.10'), fractions.Fraction(1, 3), pathlib.Path('a'),"
        " re.compile('a+', re.I), uuid.UUID(int=5), collections.Counter('aab'), collections.deque([1], 3), collections.OrderedDict(a=1),"
        " collections.defaultdict(list, a=[1]), range(3), slice(1, 2), 1j, frozenset([1]), bytearray(b'x'), ..., NotImplemented, ValueError('v'),"
        " types.SimpleNamespace(a=1), ipaddress.ip_address('::1'), array.array('i', [1, 2]), memoryview]\n"
        "logger = logging.getLogger('x.y'); buffer = io.StringIO('text'); gauss = rnd.Random(5); gauss.random(); kinds = [types.FunctionType, type(None), type(len), types.GeneratorType]",
        "repr(lib) == expected_lib and logger is logging.getLogger('x.y') and buffer.read() == 'text' and gauss.random() == twin.random() and "
        "kinds == [types.FunctionType, type(None), type(len), types.GeneratorType]",
    ),
    "for the one above": ("expected_lib = repr(lib); twin = rnd.Random(5); twin.random()", "True"),
    "weak references": (
        "import weakref\nclass Obj: pass\nstrong = Obj(); weak = weakref.ref(strong); wk = weakref.WeakKeyDictionary({strong: 1}); ws = weakref.WeakSet([strong])",
        "weak() is strong and wk[strong] == 1 and strong in ws",
    ),
    "cycles": (
        "loop = []; loop.append(loop); ring = {}; ring['r'] = [ring]\nclass Node: pass\nn1, n2 = Node(), Node(); n1.o = n2; n2.o = n1; tied = (loop, n1)",
        "loop[0] is loop and ring['r'][0] is ring and n1.o.o is n1 and tied[1] is n1",
    ),
    "code and bound methods": ("code = compile('1 + 1', 'x', 'eval'); bound = n1.__class__.__init__; meth = child.hello", "eval(code) == 2 and meth() == 'child base'"),
    "exceptions of the session's own": (
        "class Oops(Exception):\n    def __init__(self, a, b): super().__init__(a, b); self.b = b\noops = Oops(1, 2); oops.note = 'n'",
        "type(oops) is Oops and oops.args == (1, 2) and oops.b == 2 and oops.note == 'n'",
    ),
    "names with underscores, and strange ones": ("_private = 1; globals()['not a name'] = 2; ünïcode = 3", "_private == 1 and globals()['not a name'] == 2 and ünïcode == 3"),
    "class whose instance needs a module": (
        "import threading\nclass Locked:\n    def __init__(self): self.lock = threading.Lock(); self.n = 5\n    def __getstate__(self): return {'n': self.n}\n"
        "    def __setstate__(self, s): self.__dict__.update(s); self.lock = threading.Lock()\nlocked = Locked()",
        "locked.n == 5 and locked.lock.acquire()",
    ),
}
if sys.version_info >= (3, 10):
    KINDS["dataclass with slots"] = ("@dataclasses.dataclass(slots=True, frozen=True)\nclass DS:\n    a: int = 1\nds = DS(4)", "ds == DS(4) and not hasattr(ds, '__dict__')")
    KINDS["ParamSpec"] = ("PS = typing.ParamSpec('PS'); CallP = typing.Callable[PS, int]", "CallP.__parameters__ == (PS,)")
if sys.version_info >= (3, 12):
    KINDS["type parameters"] = ("def first[Q](x: list[Q]) -> Q: return x[0]\nclass Stack[E]:\n    items: list[E]\ntype Pairs = list[tuple[int, int]]", "first([1]) == 1 and Stack[int] and Pairs.__value__ == list[tuple[int, int]] and Stack.__type_params__ == Stack.__parameters__")

# Objects that cannot be saved, and a word of the reason.
UNSAVABLE = {
    "generator": "(i for i in ())",
    "TextIOWrapper": "open('/dev/null')",
    "socket": "__import__('socket').socketpair()",
    "lock": "__import__('threading').Lock()",
    "coroutine": "co_()",
    "nested too deeply": "deep()",
    "cannot be imported": "__import__('types').ModuleType('ghost')",
    "no thanks": "Refuses()",
    "SystemExit": "Exits()",
    "frame": "__import__('sys')._getframe()",
    "memoryview": "memoryview(b'x')",
}
HELPERS = """
async def co_(): pass
def deep():
    x = []
    for _ in range(200_000): x = [x]
    return x
class Refuses:
    def __reduce__(self): raise ValueError('no thanks')
class Exits:
    def __reduce__(self): raise SystemExit(3)
"""
