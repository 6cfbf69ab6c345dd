export interface Field {
  number: number
  /** Bytes for texts and messages; a number for everything else. */
  value: Buffer | bigint
}

/** Parses the fields of a message in protobuf's wire format. */
export function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = []
  let at = 0
  const number = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]
      if (byte === undefined) throw new Error('The message is truncated')
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  const bytes = (length: number): Buffer => {
    at += length
    return message.subarray(at - length, at)
  }
  while (at < message.length) {
    const tag = Number(number())
    const kind = tag & 7
    if (kind > 5 || kind === 3 || kind === 4) throw new Error(`Unknown wire type ${kind}`)
    if (kind === 0) fields.push({ number: tag >> 3, value: number() })
    else if (kind === 1) fields.push({ number: tag >> 3, value: bytes(8).readBigUInt64LE() })
    else if (kind === 5) fields.push({ number: tag >> 3, value: BigInt(bytes(4).readUInt32LE()) })
    else fields.push({ number: tag >> 3, value: bytes(Number(number())) })
  }
  return fields
}

export const hexOf = (bytes: Buffer | undefined): string => bytes?.toString('hex') ?? ''
export const textOf = (bytes: Buffer | undefined): string => bytes?.toString('utf8') ?? ''
