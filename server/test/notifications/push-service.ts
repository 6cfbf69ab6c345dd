import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import { atEnd } from '../support/file-lifecycle.ts'
import { fileServer } from '../support/outgoing/file-server.ts'

export interface Pushed {
  /** Browser id: the last part of its URL. */
  browser: string
  headers: IncomingHttpHeaders
  body: Buffer
}

type PushService = Awaited<ReturnType<typeof startPushService>>

/** A stub of a push service. */
export async function startPushService() {
  const received: Pushed[] = []
  let status: number | 'never' = 201
  const server = await fileServer(async (request, response) => {
    const { url = '', headers } = request
    received.push({ browser: url.split('/').at(-1) ?? '', headers, body: await buffer(request) })
    if (status !== 'never') response.writeHead(status).end()
  })
  atEnd(() => server.close())
  /** Sets the response to all requests. */
  const answer = (next: typeof status) => {
    status = next
  }
  return { url: server.baseUrl, received, answer }
}

// Decryption, which the encryption library lacks (RFC 8188, RFC 8291).
const { decrypt } = createRequire(import.meta.resolve('web-push'))('http_ece')

export function newBrowser(service: PushService, language: 'en' | 'es' | 'pt' = 'en') {
  const privateKey = createECDH('prime256v1')
  const p256dh = privateKey.generateKeys('base64url')
  const [auth, name] = [randomBytes(16).toString('base64url'), randomBytes(12).toString('hex')]
  return {
    name,
    /** Result of its subscription. */
    subscription: { endpoint: `${service.url}/push/${name}`, p256dh, auth, language },
    /** Decrypts a push; throws if it is for another browser. */
    open: ({ body }: Pushed): { id: string; title: string; body: string; url: string } =>
      JSON.parse(decrypt(body, { version: 'aes128gcm', privateKey, authSecret: auth }).toString('utf8')),
  }
}

/** Verifies the VAPID signature and returns the sender (RFC 8292). */
export function signerOf({ headers }: Pushed): { key: string; claims: { aud: string; sub: string; exp: number } } {
  const [, token = '', key = ''] = /^vapid t=([\w.-]+), ?k=([\w-]+)$/.exec(headers.authorization ?? '') ?? []
  const [head = '', claims = '', signature = ''] = token.split('.')
  const point = Buffer.from(key, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  const checked = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
  const isRight = verify('sha256', Buffer.from(`${head}.${claims}`), checked, Buffer.from(signature, 'base64url'))
  if (!isRight) throw new Error('The signature is not right')
  return { key, claims: JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) }
}
