import { createHmac } from 'node:crypto'

/** JSON as the platform writes it: what is not ASCII is escaped, and slashes too when asked. */
export function encodeBody(value: unknown, escapeSlashes: boolean): Buffer {
  const ascii = JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return Buffer.from(escapeSlashes ? ascii.replaceAll('/', '\\/') : ascii, 'latin1')
}

/** The `X-Hub-Signature-256` of raw bytes. */
export const signatureOf = (body: Buffer, appSecret: string): string =>
  `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`
