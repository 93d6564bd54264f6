"""Reading and comparing values of the ClassAd language, by structure.

`read(text)` turns an expression as printed by the library or by us into nested
Python tuples in which spacing, the order of attributes, the case of names and
the spelling of numbers, strings, times and operators make no difference.
"""
import re

TOKEN = re.compile(r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<quoted>'(?:[^'\\]|\\.)*')
  | (?P<number>\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<op>=\?=|=!=|>>>|<<|>>|<=|>=|==|!=|&&|\|\||\?:|[-+*/%&|^~!<>=?:.,;()\[\]{}])
""", re.X | re.S)

ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
KEYWORDS = {"true", "false", "undefined", "error"}


class Unreadable(Exception):
    pass


def unescape(body):
    """Bytes of a quoted literal's inside."""
    out = bytearray()
    i = 0
    while i < len(body):
        c = body[i]
        if c == "\\" and i + 1 < len(body):
            m = re.match(r"[0-3][0-7]{2}|[0-7]{1,2}", body[i + 1:i + 4])
            if m:
                out.append(int(m.group(), 8))
                i += 1 + len(m.group())
                continue
            c = body[i + 1]
            if c in ESCAPES:
                out.append(ESCAPES[c])
            else:
                out += c.encode("utf-8", "surrogateescape")
            i += 2
        else:
            out += c.encode("utf-8", "surrogateescape")
            i += 1
    return bytes(out)


def tokens(text):
    out = []
    i = 0
    while i < len(text):
        m = TOKEN.match(text, i)
        if not m:
            raise Unreadable("%r at %d" % (text[:80], i))
        i = m.end()
        kind, body = m.lastgroup, m.group()
        if kind == "space":
            continue
        if kind == "string":
            out.append(("string", unescape(body[1:-1])))
        elif kind == "quoted":
            out.append(("name", unescape(body[1:-1]).decode("latin-1").lower()))
        elif kind == "number":
            if body.isdigit():
                out.append(("int", int(body)))
            else:
                out.append(("real", float(body)))
        elif kind == "name":
            low = body.lower()
            if low in KEYWORDS:
                out.append(("word", low))
            elif low in ("is", "isnt"):
                out.append(("op", low))
            else:
                out.append(("name", low))
        else:
            out.append(("op", {"=?=": "is", "=!=": "isnt"}.get(body, body)))
    return out


def seconds(text):
    """[-][d+][[hh:]mm:]ss[.f] -> seconds"""
    if text.lstrip("-") in ("inf", "nan"):
        return float(text)
    m = re.fullmatch(r"\s*(-?)(?:(\d+)\+)?(?:(?:(\d+):)?(\d+):)?(\d*\.?\d*)\s*", text)
    if not m:
        raise Unreadable("relTime %r" % text)
    sign, d, h, mi, s = m.groups()
    total = int(d or 0) * 86400 + int(h or 0) * 3600 + int(mi or 0) * 60 + float(s or 0)
    return -total if sign else total


def instant(text):
    """YYYY-MM-DDThh:mm:ss±hh:mm -> (seconds since the epoch, offset)"""
    m = re.fullmatch(r"(-?\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)([-+])(\d+):(\d+)", text)
    if not m:
        raise Unreadable("absTime %r" % text)
    y, mo, d, h, mi, s = (int(x) for x in m.groups()[:6])
    offset = int(m.group(8)) * 3600 + int(m.group(9)) * 60
    if m.group(7) == "-":
        offset = -offset
    # days since 1970-01-01 in the proleptic Gregorian calendar
    y -= mo <= 2
    era = y // 400
    yoe = y - era * 400
    doy = (153 * (mo + (-3 if mo > 2 else 9)) + 2) // 5 + d - 1
    days = era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468
    return days * 86400 + h * 3600 + mi * 60 + s - offset, offset


def fold_times(toks):
    """relTime("..") absTime("..") real("INF") as single tokens; signs of literals"""
    out = []
    i = 0
    while i < len(toks):
        four = toks[i:i + 4]
        if (len(four) == 4 and four[0][0] == "name" and four[1] == ("op", "(") and four[2][0] == "string"
                and four[3] == ("op", ")") and not (out and out[-1] == ("op", "."))):
            body = four[2][1].decode("latin-1")
            name = four[0][1]
            try:
                if name == "reltime":
                    out.append(("reltime", seconds(body)))
                    i += 4
                    continue
                if name == "abstime":
                    out.append(("abstime",) + instant(body))
                    i += 4
                    continue
            except Unreadable:
                pass
            if name == "real" and body in ("INF", "-INF", "NaN"):
                out.append(("real", float(body.replace("INF", "inf"))))
                i += 4
                continue
        out.append(toks[i])
        i += 1
    return out


CLOSE = {"(": ")", "[": "]", "{": "}"}


def group(toks, i, end):
    """Nested tuples of the tokens from i up to the bracket `end`."""
    out = []
    while i < len(toks):
        tok = toks[i]
        if tok[0] == "op" and tok[1] in CLOSE:
            inner, i = group(toks, i + 1, CLOSE[tok[1]])
            after_value = bool(out) and (out[-1][0] not in ("op",))
            if tok[1] == "[" and not after_value:
                out.append(("ad", attributes(inner)))
            elif tok[1] == "{":
                out.append(("list", split(inner, ",")))
            else:
                out.append((tok[1], tuple(inner)))
        elif tok[0] == "op" and tok[1] in ")]}":
            if tok[1] != end:
                raise Unreadable("brackets")
            return out, i + 1
        else:
            out.append(tok)
            i += 1
    if end:
        raise Unreadable("brackets")
    return out, i


def split(items, separator):
    parts = [[]]
    for item in items:
        if item == ("op", separator):
            parts.append([])
        else:
            parts[-1].append(item)
    if parts == [[]]:
        return ()
    return tuple(tuple(p) for p in parts)


def attributes(items):
    out = {}
    for part in split(items, ";"):
        if not part:
            continue
        if len(part) < 3 or part[0][0] not in ("name", "word", "op") or part[1] != ("op", "="):
            raise Unreadable("attribute %r" % (part[:3],))
        out[str(part[0][1])] = part[2:]
    return tuple(sorted(out.items()))


def read(text):
    tree, _ = group(fold_times(tokens(text)), 0, None)
    return tuple(tree)


def same_real(a, b):
    """Equal within one unit of the 16th significant digit."""
    if a != a or b != b:
        return a != a and b != b
    if a == b:
        return str(a)[:1] == str(b)[:1] or a != 0.0
    if a in (float("inf"), float("-inf")) or b in (float("inf"), float("-inf")):
        return False
    unit = 10.0 ** (int(("%e" % max(abs(a), abs(b))).split("e")[1]) - 15)
    return abs(a - b) <= unit * 1.0000001 or abs(a - b) < 5e-324


def same(a, b):
    """Structural equality of two trees of `read`."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) == 2 and len(b) == 2 and a[0] == b[0] == "real":
            return same_real(a[1], b[1])
        if len(a) == 2 and len(b) == 2 and a[0] == b[0] == "reltime":
            return a[1] == b[1] or (a[1] != a[1] and b[1] != b[1]) or abs(a[1] - b[1]) <= 1e-9 * max(1.0, abs(a[1]))
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return type(a) is type(b) and a == b


def real_value(text):
    """The float that a printed real stands for, or None."""
    try:
        tree = read(text)
    except Unreadable:
        return None
    sign = 1.0
    while tree and tree[0] == ("op", "-"):
        sign, tree = -sign, tree[1:]
    if len(tree) == 1 and tree[0][0] == "real":
        return sign * tree[0][1]
    return None


def reltime_value(text):
    try:
        tree = read(text)
    except Unreadable:
        return None
    return tree[0][1] if len(tree) == 1 and tree[0][0] == "reltime" else None


def abstime_value(text):
    try:
        tree = read(text)
    except Unreadable:
        return None
    return tree[0][1:] if len(tree) == 1 and tree[0][0] == "abstime" else None


def equal(kind, a, b):
    """Are two printed values of the same type equal?"""
    if a == b:
        return True
    if a is None or b is None:
        return a is b
    if kind == "real":
        x, y = real_value(a), real_value(b)
        return x is not None and y is not None and same_real(x, y)
    if kind in ("undefined", "error", "bool"):
        return a.lower() == b.lower()
    if kind == "int":
        return a.replace(" ", "") == b.replace(" ", "")
    try:
        return same(read(a), read(b))
    except Unreadable:
        return False
