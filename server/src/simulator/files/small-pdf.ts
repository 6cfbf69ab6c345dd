/** A document of one page: a headline and lines, in letters of Latin-1. */
export function smallPdf(headline: string, lines: readonly string[]): Buffer {
  const shown = [`BT /F1 22 Tf 72 770 Td (${escaped(headline)}) Tj ET`]
  for (const [index, line] of lines.entries()) {
    shown.push(`BT /F1 12 Tf 72 ${730 - index * 20} Td (${escaped(line)}) Tj ET`)
  }
  const stream = shown.join('\n')
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${Buffer.byteLength(stream, 'latin1')} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  ]
  let file = '%PDF-1.4\n'
  const places: number[] = []
  for (const [index, object] of objects.entries()) {
    places.push(file.length)
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
  }
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')
  const head = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`
  const end = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`
  return Buffer.from(file + head + end, 'latin1')
}

const escaped = (text: string): string => text.replace(/[\\()]/g, (letter) => `\\${letter}`)
