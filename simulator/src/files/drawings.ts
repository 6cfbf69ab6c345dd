import { crc32, deflateSync } from 'node:zlib'

type Colour = readonly [number, number, number]
/** The colour of a point; both coordinates go from 0 to 1. */
export type Drawing = (x: number, y: number) => Colour

const ink: Colour = [27, 35, 48]
const paper: Colour = [255, 255, 255]
const bars = [0.35, 0.5, 0.42, 0.66, 0.6, 0.82]

/** A chart of six months, the last in another colour. */
export const chart: Drawing = (x, y) => {
  if (x < 0.1 || x > 0.94 || y < 0.1) return paper
  if (x < 0.105 || (y > 0.88 && y < 0.887)) return ink
  if (y >= 0.887) return paper
  const place = ((x - 0.12) / 0.81) * bars.length
  const index = Math.floor(place)
  const height = bars[index] ?? 0
  const isBar = place - index > 0.18 && place - index < 0.82 && y > 0.88 - height * 0.74
  if (isBar) return index === bars.length - 1 ? [242, 198, 107] : [74, 84, 216]
  return Math.abs((y * 8) % 1) < 0.02 ? [221, 225, 233] : paper
}

/** A page with a headline and lines that look written. */
export const page: Drawing = (x, y) => {
  if (x < 0.12 || x > 0.88) return paper
  if (y > 0.08 && y < 0.12) return x < 0.5 ? ink : paper
  const line = (y - 0.18) / 0.045
  const isInk = line > 0 && line < 16 && line % 1 < 0.36
  const ends = 0.6 + 0.28 * Math.abs(Math.sin(Math.floor(line) * 2.3))
  const isGap = Math.sin(x * 90 + Math.floor(line) * 5) > 0.8
  return isInk && x < ends && !isGap ? [154, 166, 184] : paper
}

/** A drawing as a PNG. */
export function drawPng(drawing: Drawing, width: number, height: number): Buffer {
  const rows = Buffer.alloc(height * (width * 3 + 1))
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      rows.set(drawing(x / width, y / height), y * (width * 3 + 1) + 1 + x * 3)
    }
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  // 8 bits each of red, green and blue.
  head.set([8, 2], 8)
  const chunks = [chunkOf('IHDR', head), chunkOf('IDAT', deflateSync(rows)), chunkOf('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks])
}

function chunkOf(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  const chunk = Buffer.alloc(named.length + 8)
  chunk.writeUInt32BE(data.length, 0)
  chunk.set(named, 4)
  chunk.writeUInt32BE(crc32(named), named.length + 4)
  return chunk
}

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
