import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { sameSecret } from '../../base/sealing/secret-token.ts'
import { profiles } from './call.ts'
import type { PartnerSettings } from './settings.ts'

const tokenHeader = 'x-parley-token'

/** What callbacks show: the partner sends the headers that it was told when the address was registered. */
export const proofHeaders = (webhookToken: string) => ({ [tokenHeader]: webhookToken })

const digest = /^(?:sha256=)?([0-9a-f]{64})$/i

/** What a request shows to prove that it is the partner's. */
export interface Proof {
  token: string | null
  signature: Buffer | null
}

/** Reads what a request shows; null when that is nothing of any use. */
export function readProof(headers: IncomingHttpHeaders): Proof | null {
  const token = textOf(headers[tokenHeader]) ?? passwordOf(textOf(headers.authorization) ?? '')
  const signature = signatureHeaders.map((name) => digest.exec(textOf(headers[name]) ?? '')?.[1]).find(Boolean)
  if (token === null && signature === undefined) return null
  return { token, signature: signature === undefined ? null : Buffer.from(signature, 'hex') }
}

/** Whether a callback is the partner's. Where it signs, the token alone is not enough. */
export function isFromPartner(settings: PartnerSettings, { token, signature }: Proof, body: Uint8Array): boolean {
  if (settings.signingSecret === null) return token !== null && sameSecret(token, settings.webhookToken)
  const expected = createHmac('sha256', settings.signingSecret).update(body).digest()
  return signature !== null && timingSafeEqual(expected, signature)
}

const signatureHeaders = Object.values(profiles).map((profile) => profile.signatureHeader)

// A partner that knows no headers of ours takes a password within the address.
function passwordOf(authorization: string): string | null {
  const basic = /^basic +([\w+/=-]+)$/i.exec(authorization)?.[1]
  if (basic === undefined) return null
  const text = Buffer.from(basic, 'base64').toString('utf8')
  return text.includes(':') ? text.slice(text.indexOf(':') + 1) : null
}

const textOf = (value: string | string[] | undefined): string | null => (typeof value === 'string' ? value : null)
