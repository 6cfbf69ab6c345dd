// Chat platform that serves pictures by id, of `maxScanBytes` and `largeBytes`. Run by media-part.ts as a process.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import sharp from 'sharp'

interface Picture {
  bytes: Buffer
  sha256: string
}

const kinds = 20
const [small, large] = [
  { width: 1600, height: 1200, wantedBytes: 300_000 },
  { width: 4032, height: 3024, wantedBytes: 4_900_000 },
]
// All pictures differ, so that nothing can be cached.
const smalls = await Promise.all(Array.from({ length: kinds }, () => drawPicture(small)))
const larges = [await drawPicture(large)]

const server = createServer((request, response) => {
  const { url = '' } = request
  const id = url.slice(url.lastIndexOf('/') + 1)
  const picture = pictureOf(id)
  if (picture === undefined) {
    response.writeHead(404).end()
  } else if (url.startsWith('/files/')) {
    response.writeHead(200, { 'content-type': 'image/jpeg', 'content-length': picture.bytes.length }).end(picture.bytes)
  } else {
    const { port } = server.address() as AddressInfo
    const body = JSON.stringify({
      messaging_product: 'whatsapp',
      url: `http://127.0.0.1:${port}/files/${id}`,
      mime_type: 'image/jpeg',
      sha256: picture.sha256,
      file_size: picture.bytes.length,
      id,
    })
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  }
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`))

/** Accepts any number: `small-17`, `large-3`. */
function pictureOf(id: string): Picture | undefined {
  const [size, number] = id.split('-')
  const of = size === 'small' ? smalls : size === 'large' ? larges : []
  return of[Number(number) % of.length]
}

/** Draws a picture with the size and weight of a photograph: noise, blurred until it has the wanted size. */
async function drawPicture({ width, height, wantedBytes }: typeof small): Promise<Picture> {
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
  const raw = await sharp({ create: { width, height, channels: 3, background: '#888', noise } })
    .blur(1.5)
    .raw()
    .toBuffer()
  const jpeg = (quality: number) =>
    sharp(raw, { raw: { width, height, channels: 3 } })
      .jpeg({ quality })
      .toBuffer()
  let [low, high] = [5, 98]
  let bytes = await jpeg(low)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const tried = await jpeg(middle)
    if (tried.length > wantedBytes) high = middle - 1
    else {
      low = middle
      bytes = tried
    }
  }
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
}
