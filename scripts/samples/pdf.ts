/**
 * A PDF of one page of text in a fixed pitch, as small as one can be: enough for a sample and for its picture.
 */

const FONT_POINTS = 9
const LEADING_POINTS = 12
const MARGIN_POINTS = 36
const WIDTH_POINTS = 520

/** WinAnsi has these above Latin-1. */
const ANSI: Readonly<Record<string, number>> = { '€': 0x80, '’': 0x92, '–': 0x96 }

export function textPdf(text: string): Buffer {
  const lines = text.split('\n')
  const height = MARGIN_POINTS * 2 + lines.length * LEADING_POINTS
  const shown = lines.map((line) => `(${encoded(line)}) Tj T*`).join('\n')
  const stream = `BT /F1 ${FONT_POINTS} Tf ${LEADING_POINTS} TL ${MARGIN_POINTS} ${height - MARGIN_POINTS} Td\n${shown}\nET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${WIDTH_POINTS} ${height}] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>`,
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>',
  ]
  let body = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const at = body.length
    body += `${index + 1} 0 obj\n${object}\nendobj\n`
    return at
  })
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')
  const end = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`
  return Buffer.from(body + end, 'latin1')
}

function encoded(line: string): string {
  return [...line]
    .map((sign) => {
      const code = ANSI[sign] ?? sign.codePointAt(0) ?? 0x3f
      if (code > 0xff) return '?'
      return code > 0x7e || /[()\\]/.test(sign) ? `\\${code.toString(8).padStart(3, '0')}` : sign
    })
    .join('')
}
