import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

export type Authority = ReturnType<typeof makeAuthority>

/** Creates a certificate authority for tests. Not suitable for anything else. */
export function makeAuthority(name = 'Parley test authority') {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const make = (subject: string, key: KeyObject, extension: Buffer) => {
    const body = sequence(
      tlv(0xa0, tlv(0x02, Buffer.from([2]))),
      tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
      sequence(ecdsaWithSha256),
      nameOf(name),
      sequence(tlv(0x17, Buffer.from('200101000000Z')), tlv(0x17, Buffer.from('491231235959Z'))),
      nameOf(subject),
      key.export({ type: 'spki', format: 'der' }),
      tlv(0xa3, sequence(extension)),
    )
    const signature = tlv(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]))
    const lines =
      sequence(body, sequence(ecdsaWithSha256), signature)
        .toString('base64')
        .match(/.{1,64}/g) ?? []
    return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
  }
  return {
    cert: make(name, publicKey, extensionOf('551d13', sequence(tlv(0x01, Buffer.from([0xff]))))),
    key: pemOf(privateKey),
    /** Issues a certificate for a server with these names, or for a database role. */
    certify: (names: readonly string[], role = 'server') => {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const cert = make(role, pair.publicKey, extensionOf('551d11', sequence(...names.map(alternative))))
      return { cert, key: pemOf(pair.privateKey) }
    },
  }
}

// The part of DER that certificates use.
const tlv = (tag: number, value: Buffer): Buffer => {
  const { length } = value
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), value])
}
const sequence = (...parts: Buffer[]) => tlv(0x30, Buffer.concat(parts))
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, 'hex'))
const ecdsaWithSha256 = oid('2a8648ce3d040302')
const nameOf = (name: string) => sequence(tlv(0x31, sequence(oid('550403'), tlv(0x0c, Buffer.from(name)))))
const extensionOf = (id: string, value: Buffer) => sequence(oid(id), tlv(0x04, value))
/** Encodes a DNS name or an IPv4 address. */
const alternative = (name: string) =>
  isIPv4(name) ? tlv(0x87, Buffer.from(name.split('.').map(Number))) : tlv(0x82, Buffer.from(name))
const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()
