"""Writes PDFs by programs that share nothing with the reader, each with the text that was put into it.

For every NAME.pdf there is a NAME.txt: the text of its pages as it is read, with form feeds between pages.
"""
import io
import pathlib
import sys
import zlib

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from PIL import Image, ImageDraw
from pypdf import PdfReader, PdfWriter
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

FOLDER = pathlib.Path(sys.argv[1])
WIDTH, HEIGHT = A4
MARGIN = 72


def document(name, pages, pagesize=A4, **options):
    """Each page is a function that draws it and gives the text that was drawn."""
    canvas = Canvas(str(FOLDER / f"{name}.pdf"), pagesize=pagesize, invariant=1, **options)
    texts = []
    for page in pages:
        texts.append(page(canvas))
        canvas.showPage()
    canvas.save()
    (FOLDER / f"{name}.txt").write_text("\f".join(texts), encoding="utf-8")


def lines(canvas, texts, x=MARGIN, y=HEIGHT - MARGIN, font="Helvetica", size=11, leading=14):
    canvas.setFont(font, size)
    for text in texts:
        canvas.drawString(x, y, text)
        y -= leading
    return "\n".join(texts)


PLAIN = [
    "The quick brown fox jumps over the lazy dog.",
    "Naïve café, déjà vu – “quoted” text, 50 € and ½ of it.",
    "A line with (brackets), a \\ backslash and 100% of the signs <>&#.",
]
LEFT = [
    "The left column begins here and goes on",
    "for a while, line after line, as columns",
    "of a newspaper do, until at its very end",
    "a sentence is cut and goes on with the",
    "words that stand at the top of the right.",
]
RIGHT = [
    "The right column has its own baselines,",
    "and nothing of it may come between the",
    "lines of the left one. It ends with the",
    "last word of the page, which is here,",
    "and after it comes nothing but a number.",
]


def plain(canvas):
    return lines(canvas, PLAIN)


def blank(canvas):
    return ""


def columns(shift):
    def page(canvas):
        canvas.setFont("Times-Bold", 18)
        canvas.drawString(MARGIN, HEIGHT - 60, "A title across both columns of the whole page")
        # As some programs write: one line of each column in turn.
        canvas.setFont("Times-Roman", 10)
        for index, (left, right) in enumerate(zip(LEFT, RIGHT)):
            y = HEIGHT - 100 - 12 * index
            canvas.drawString(MARGIN, y, left)
            canvas.drawString(WIDTH / 2 + 10, y - shift, right)
        canvas.drawCentredString(WIDTH / 2, 40, "17")
        title = "A title across both columns of the whole page"
        return "\n\n".join([title, "\n".join(LEFT), "\n".join(RIGHT), "17"])

    return page


def table(canvas):
    rows = [("Item", "Count", "Price"), ("Apples", "12", "3.50"), ("Pears", "7", "12.00"), ("Quinces", "140", "0.75")]
    canvas.setFont("Helvetica", 11)
    for index, row in enumerate(rows):
        for column, cell in enumerate(row):
            canvas.drawString(MARGIN + 120 * column, HEIGHT - 100 - 16 * index, cell)
    return "\n".join("  ".join(row) for row in rows)


def listing(canvas):
    code = ["def main():", "    for x in range(3):", "        print(x,  'a   b')", "    return 0"]
    return lines(canvas, code, font="Courier", size=10, leading=12)


def words(canvas):
    """Each word on its own and in any order, without a blank anywhere."""
    canvas.setFont("Helvetica", 12)
    for index in [2, 0, 4, 1, 3]:
        x = MARGIN + sum(pdfmetrics.stringWidth(word + " ", "Helvetica", 12) for word in "one two three four five".split()[:index])
        canvas.drawString(x, HEIGHT - 100, "one two three four five".split()[index])
    return "one two three four five"


def twice(canvas):
    """Bold by being drawn twice, and letters both filled and outlined."""
    canvas.setFont("Helvetica", 12)
    canvas.drawString(MARGIN, HEIGHT - 100, "Bold letters")
    canvas.drawString(MARGIN + 0.4, HEIGHT - 100, "Bold letters")
    text = canvas.beginText(MARGIN, HEIGHT - 120)
    text.setTextRenderMode(2)
    text.textLine("filled and outlined")
    canvas.drawText(text)
    return "Bold letters\nfilled and outlined"


def raised(canvas):
    canvas.setFont("Times-Roman", 12)
    canvas.drawString(MARGIN, HEIGHT - 100, "E = mc")
    x = MARGIN + pdfmetrics.stringWidth("E = mc", "Times-Roman", 12)
    canvas.setFont("Times-Roman", 7)
    canvas.drawString(x, HEIGHT - 96, "2")
    canvas.setFont("Times-Roman", 12)
    canvas.drawString(x + 4, HEIGHT - 100, " is known.")
    return "E = mc2 is known."


CHINESE = ["春眠不觉晓，处处闻啼鸟。", "夜来风雨声，花落知多少。", "Latin 与汉字混排 2026 年。"]
JAPANESE = ["吾輩は猫である。名前はまだ無い。", "カタカナとひらがな"]
KOREAN = ["안녕하세요 세계", "한국어 문장입니다"]


def asian(name, texts):
    def page(canvas):
        return lines(canvas, texts, font=name, size=14, leading=20)

    return page


def upright(canvas):
    """From top to bottom, lines from right to left."""
    canvas.setFont("HeiseiMin-W3-V", 14)
    for index, text in enumerate(["吾輩は猫である", "名前はまだ無い"]):
        canvas.drawString(WIDTH - 100 - 24 * index, HEIGHT - 100, text)
    return "吾輩は猫である\n名前はまだ無い"


def embedded_font():
    """A TrueType font of our own: each letter is a box, and its height tells which one."""
    letters = "中文字体嵌入ﬁ 的测试abcdef"
    names = [".notdef"] + [f"g{ord(letter):04X}" for letter in letters]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(letter): f"g{ord(letter):04X}" for letter in letters})
    glyphs = {}
    for index, name in enumerate(names):
        pen = TTGlyphPen(None)
        if name != "g0020":
            top = 300 + 40 * index
            for corner, go in zip([(100, 0), (100, top), (800, top), (800, 0)], [pen.moveTo] + [pen.lineTo] * 3):
                go(corner)
            pen.closePath()
        glyphs[name] = pen.glyph()
    builder.setupGlyf(glyphs)
    builder.setupHorizontalMetrics({name: (900, 100) for name in names})
    builder.setupHorizontalHeader(ascent=1100, descent=-200)
    builder.setupNameTable({"familyName": "Boxes", "styleName": "Regular", "psName": "Boxes-Regular"})
    builder.setupOS2(sTypoAscender=1100, sTypoDescender=-200, usWinAscent=1100, usWinDescent=200)
    builder.setupPost()
    data = io.BytesIO()
    builder.save(data)
    data.seek(0)
    pdfmetrics.registerFont(TTFont("Boxes", data))


def embedded(canvas):
    lines(canvas, ["中文字体嵌入的测试", "ﬁ abc def"], font="Boxes", size=20, leading=30)
    return "中文字体嵌入的测试\nfi abc def"


def pictures(canvas):
    """What pixels must show: a red box, a line of text, and corners that stay white."""
    canvas.setFillColorRGB(1, 0, 0)
    canvas.rect(100, 600, 200, 100, stroke=0, fill=1)
    canvas.setFillColorRGB(0, 0, 0)
    canvas.setFont("Helvetica-Bold", 36)
    canvas.drawString(100, 400, "HELVETICA")
    return "HELVETICA"


def rotated(degrees):
    def page(canvas):
        canvas.setPageRotation(degrees)
        canvas.setFillColorRGB(1, 0, 0)
        canvas.rect(0, 0, 100, 50, stroke=0, fill=1)
        canvas.setFillColorRGB(0, 0, 0)
        # The text runs as the page is turned, so that people see it upright.
        canvas.translate(WIDTH / 2, HEIGHT / 2)
        canvas.rotate(degrees)
        canvas.setFont("Helvetica", 12)
        canvas.drawString(-80, 0, f"Turned by {degrees} degrees")
        canvas.drawString(-80, -14, "and read upright")
        return f"Turned by {degrees} degrees\nand read upright"

    return page


def sideways(canvas):
    """Text at the margin that runs upwards."""
    canvas.setPageRotation(0)
    lines(canvas, PLAIN[:1])
    canvas.saveState()
    canvas.translate(30, 300)
    canvas.rotate(90)
    canvas.setFont("Helvetica", 12)
    canvas.drawString(0, 0, "upwards at the margin")
    canvas.restoreState()
    return PLAIN[0] + "\n\nupwards at the margin"


def scan(text):
    """A page as a scanner writes it: one image."""

    def page(canvas):
        image = Image.new("RGB", (850, 1100), "white")
        draw = ImageDraw.Draw(image)
        draw.rectangle([100, 100, 300, 200], fill=(0, 0, 200))
        draw.text((100, 300), text, fill="black")
        data = io.BytesIO()
        image.save(data, "JPEG", quality=90)
        data.seek(0)
        canvas.drawImage(ImageReader(data), 0, 0, WIDTH, HEIGHT)
        return ""

    return page


def stamped(text, stamp):
    """A scanned page with a few words of text on it."""

    def page(canvas):
        scan(text)(canvas)
        return lines(canvas, [stamp])

    return page


def numbered(number):
    def page(canvas):
        return lines(canvas, [f"Page number {number} of a long report."] + PLAIN * 2)

    return page


def encrypt(name, source, user, owner, algorithm):
    writer = PdfWriter(clone_from=PdfReader(str(FOLDER / f"{source}.pdf")))
    writer.encrypt(user, owner, algorithm=algorithm)
    with open(FOLDER / f"{name}.pdf", "wb") as out:
        writer.write(out)
    (FOLDER / f"{name}.txt").write_text((FOLDER / f"{source}.txt").read_text(encoding="utf-8"), encoding="utf-8")


def raw(name, objects):
    """A PDF of these objects, the first of them its root."""
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table
    out += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, end)
    (FOLDER / f"{name}.pdf").write_bytes(out)


def stream(data, entries=b""):
    return b"<<" + entries + b"/Length %d>>stream\n" % len(data) + data + b"\nendstream"


def zeros(length):
    packer, out = zlib.compressobj(9), []
    for _ in range(length >> 20):
        out.append(packer.compress(b" " * (1 << 20)))
    out.append(packer.flush())
    return b"".join(out)


HEAD = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"]
PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<<%s>>>>"


def hostile():
    bomb = zeros(1 << 30)
    raw("bomb", HEAD + [PAGE % b"", stream(bomb, b"/Filter/FlateDecode")])
    raw("bomb-in-bomb", HEAD + [PAGE % b"", stream(zlib.compress(bomb, 9), b"/Filter[/FlateDecode/FlateDecode]")])
    image = b"/Type/XObject/Subtype/Image/BitsPerComponent 8/ColorSpace/DeviceGray"
    draw = stream(b"q 200 0 0 200 0 0 cm /I Do Q")
    huge = stream(b"\xff\xd8\xff", image + b"/Width 60000/Height 60000/Filter/DCTDecode")
    raw("huge-image", HEAD + [PAGE % b"/XObject<</I 5 0 R>>", draw, huge])
    fax = b"/Type/XObject/Subtype/Image/BitsPerComponent 1/ColorSpace/DeviceGray/Width 10/Height 10"
    fax += b"/Filter/CCITTFaxDecode/DecodeParms<</Columns 4000000/Rows 4000000/K -1>>"
    raw("huge-fax", HEAD + [PAGE % b"/XObject<</I 5 0 R>>", draw, stream(b"\x00\x10\x01", fax)])
    huge_page = PAGE.replace(b"[0 0 200 200]", b"[0 0 900000000 1000]") % b""
    raw("huge-page", HEAD + [huge_page, stream(b"0 0 1 rg 0 0 900000000 1000 re f")])
    # Each drawing draws the next one ten times.
    forms = [stream(b"/F Do " * 10, b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F %d 0 R>>>>" % number)
             for number in range(6, 36)]
    raw("laughs", HEAD + [PAGE % b"/XObject<</F 5 0 R>>", stream(b"/F Do")] + forms + [stream(b"0 0 1 1 re f", b"/Subtype/Form/BBox[0 0 9 9]")])
    raw("deep", HEAD + [PAGE % (b"/X " + b"[" * 200000 + b"]" * 200000), stream(b"[" * 300000 + b" TJ")])
    raw("turned-in-itself", HEAD + [PAGE % b"/XObject<</F 5 0 R>>", stream(b"/F Do"),
        stream(b"/F Do /F Do", b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F 5 0 R>>>>")])
    kids = HEAD[:1] + [b"<</Type/Pages/Kids[2 0 R 2 0 R 3 0 R]/Count 3>>"]
    raw("circle", kids + [PAGE % b"", stream(b"0 0 1 1 re f")])
    raw("again-and-again", HEAD + [(PAGE % b"").replace(b"4 0 R", b"[" + b"4 0 R " * 20000 + b"]", 1), stream(zeros(8 << 20), b"/Filter/FlateDecode")])


def main():
    for name in ["STSong-Light", "HeiseiMin-W3", "HYSMyeongJo-Medium"]:
        pdfmetrics.registerFont(UnicodeCIDFont(name))
    vertical = UnicodeCIDFont("HeiseiMin-W3", isVertical=True)
    vertical.fontName = vertical.name = "HeiseiMin-W3-V"
    pdfmetrics.registerFont(vertical)
    embedded_font()
    document("plain", [plain, blank, plain])
    document("columns", [columns(0), columns(6)])
    document("table", [table])
    document("listing", [listing])
    document("letters", [words, twice, raised])
    document("chinese", [asian("STSong-Light", CHINESE)])
    document("japanese", [asian("HeiseiMin-W3", JAPANESE)])
    document("korean", [asian("HYSMyeongJo-Medium", KOREAN)])
    document("upright", [upright])
    document("embedded", [embedded])
    document("pictures", [pictures])
    document("rotated", [rotated(degrees) for degrees in (0, 90, 180, 270)] + [sideways])
    document("scan", [scan("SCANNED PAGE ONE"), scan("SCANNED PAGE TWO")])
    document("mixed", [numbered(1), scan("SCANNED TWO"), numbered(3), stamped("SCANNED FOUR", "Received."), numbered(5)])
    document("long", [numbered(number) for number in range(1, 301)])
    encrypt("empty-password", "plain", "", "owner", "AES-256")
    encrypt("password", "plain", "secret", "owner", "AES-128")
    encrypt("password-rc4", "plain", "secret", "owner", "RC4-128")
    whole = (FOLDER / "long.pdf").read_bytes()
    (FOLDER / "cut.pdf").write_bytes(whole[: len(whole) // 2])
    broken = (FOLDER / "plain.pdf").read_bytes().replace(b"startxref", b"startxxxx")
    (FOLDER / "no-table.pdf").write_bytes(broken)
    hostile()


main()
