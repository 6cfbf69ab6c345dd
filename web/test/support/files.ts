import { deflateSync } from 'node:zlib'
import type { Page } from 'playwright-core'

/** A file as the browser's own window hands it over. */
export interface ChosenFile {
  name: string
  mimeType: string
  buffer: Buffer
}

/** A picture of one colour that grows lighter to the right. */
export function drawing(name: string, [red, green, blue]: readonly [number, number, number]): ChosenFile {
  const [width, height] = [160, 100]
  const row = Array.from({ length: width }, (_, x) => [red, green, blue].map((part) => Math.min(255, part + x)))
  const line = Buffer.from([0, ...row.flat()])
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
  const lines = deflateSync(Buffer.concat(Array.from({ length: height }, () => line)))
  const parts = [part('IHDR', head), part('IDAT', lines), part('IEND', Buffer.alloc(0))]
  return { name, mimeType: 'image/png', buffer: Buffer.concat([signature, ...parts]) }
}

/** A document of one empty page. */
export function paper(name: string): ChosenFile {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >>',
  ]
  const body = objects.map((one, n) => `${n + 1} 0 obj\n${one}\nendobj\n`).join('')
  return {
    name,
    mimeType: 'application/pdf',
    buffer: Buffer.from(`%PDF-1.4\n${body}trailer << /Root 1 0 R >>\n%%EOF\n`),
  }
}

export const choose = (page: Page, files: readonly ChosenFile[]): Promise<void> =>
  page.locator('section input[type=file][multiple]').setInputFiles([...files])

function part(type: string, data: Buffer): Buffer {
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  const named = Buffer.concat([Buffer.from(type), data])
  sum.writeUInt32BE(checksum(named))
  return Buffer.concat([length, named, sum])
}

function checksum(bytes: Buffer): number {
  let rest = 0xffffffff
  for (const byte of bytes) {
    rest ^= byte
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1
  }
  return (rest ^ 0xffffffff) >>> 0
}
