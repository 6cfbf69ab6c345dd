import { createDecipheriv, createECDH, createHmac, createPublicKey, randomBytes, verify } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from '../file-end.ts'

export interface Pushed {
  /** Which browser it is for: the last part of its address. */
  browser: string
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface PushService {
  url: string
  received: Pushed[]
  /** Answers all from now on; 201 at first. */
  answer(status: number): void
}

/** What a push service is to us: an address that takes what is sealed for a browser. */
export async function startPushService(): Promise<PushService> {
  const received: Pushed[] = []
  let status = 201
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const browser = request.url?.split('/').at(-1) ?? ''
      received.push({ browser, headers: request.headers, body: Buffer.concat(chunks) })
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (next) => {
      status = next
    },
  }
}

export interface TestBrowser {
  name: string
  /** What it gives when it subscribes. */
  subscription: { endpoint: string; p256dh: string; auth: string; language: 'en' | 'es' | 'pt' }
  /** What it shows of what it was sent; throws for what is for another browser (RFC 8291). */
  open(pushed: Pushed): { id: string; title: string; body: string; url: string }
}

export function newBrowser(service: PushService, language: 'en' | 'es' | 'pt' = 'en'): TestBrowser {
  const keys = createECDH('prime256v1')
  const ours = keys.generateKeys()
  const auth = randomBytes(16)
  const name = randomBytes(12).toString('hex')
  const p256dh = ours.toString('base64url')
  return {
    name,
    subscription: { endpoint: `${service.url}/push/${name}`, p256dh, auth: auth.toString('base64url'), language },
    open: ({ body }) => {
      const salt = body.subarray(0, 16)
      const keyLength = body.readUInt8(20)
      const theirs = body.subarray(21, 21 + keyLength)
      const shared = hmac(auth, keys.computeSecret(theirs))
      const secret = hmac(shared, Buffer.concat([Buffer.from('WebPush: info\0'), ours, theirs, one]))
      const root = hmac(salt, secret)
      const key = hmac(root, Buffer.concat([Buffer.from('Content-Encoding: aes128gcm\0'), one])).subarray(0, 16)
      const nonce = hmac(root, Buffer.concat([Buffer.from('Content-Encoding: nonce\0'), one])).subarray(0, 12)
      const sealed = body.subarray(21 + keyLength)
      const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(sealed.subarray(-16))
      const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
      return JSON.parse(padded.subarray(0, padded.lastIndexOf(2)).toString('utf8'))
    },
  }
}

const one = Buffer.from([1])
const hmac = (key: Buffer, data: Buffer): Buffer => createHmac('sha256', key).update(data).digest()

/** Who says that they send it, if their signature is right (RFC 8292). */
export function signerOf({ headers }: Pushed): { key: string; claims: { aud: string; sub: string; exp: number } } {
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(headers.authorization ?? '') ?? []
  const [head = '', claims = '', signature = ''] = token.split('.')
  const point = Buffer.from(key, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  const isRight = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  if (!isRight) throw new Error('The signature is not right')
  return { key, claims: JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) }
}
