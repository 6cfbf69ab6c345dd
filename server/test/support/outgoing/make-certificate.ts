import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

export interface Certificate {
  /** As PEM. */
  cert: string
  key: string
}

export interface Authority extends Certificate {
  /** A certificate for a server of these names, or for a role of the database. */
  certify(names: readonly string[], role?: string): Certificate
}

/** An authority of a test's own, which vouches for servers. Nothing here would do outside of tests. */
export function makeAuthority(name = 'Parley test authority'): Authority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = distinguishedName(name)
  const make = (subject: Buffer, key: KeyObject, extensions: Buffer[]) =>
    certificate({ issuer, subject, key, extensions }, privateKey)
  return {
    cert: make(issuer, publicKey, [extension('551d13', sequence(tlv(0x01, Buffer.from([0xff]))))]),
    key: pem(privateKey),
    certify: (names, role = 'server') => {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const alternatives = sequence(...names.map(alternative))
      const cert = make(distinguishedName(role), pair.publicKey, [extension('551d11', alternatives)])
      return { cert, key: pem(pair.privateKey) }
    },
  }
}

interface Subject {
  issuer: Buffer
  subject: Buffer
  key: KeyObject
  extensions: Buffer[]
}

function certificate({ issuer, subject, key, extensions }: Subject, signer: KeyObject): string {
  const algorithm = sequence(oid('2a8648ce3d040302'))
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    issuer,
    sequence(tlv(0x17, Buffer.from('200101000000Z')), tlv(0x17, Buffer.from('491231235959Z'))),
    subject,
    key.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...extensions)),
  )
  const der = sequence(body, algorithm, bits(sign('sha256', body, signer)))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

/** A name of the DNS, or an IPv4 address. */
const alternative = (name: string) =>
  isIPv4(name) ? tlv(0x87, Buffer.from(name.split('.').map(Number))) : tlv(0x82, Buffer.from(name))

// As much of DER as a certificate takes.
const sequence = (...parts: Buffer[]) => tlv(0x30, Buffer.concat(parts))
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, 'hex'))
const bits = (bytes: Buffer) => tlv(0x03, Buffer.concat([Buffer.from([0]), bytes]))
const extension = (id: string, value: Buffer) => sequence(oid(id), tlv(0x04, value))
const distinguishedName = (name: string) => sequence(tlv(0x31, sequence(oid('550403'), tlv(0x0c, Buffer.from(name)))))

function tlv(tag: number, value: Buffer): Buffer {
  const { length } = value
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), value])
}

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
