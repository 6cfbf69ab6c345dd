import type { Keyring } from '../../base/encryption/keyring.ts'
import type { MediaInfo } from '../../channels/channel-event.ts'

/** `coming`: to be downloaded. `gone`: deleted on the platform. `refused`: not as announced, or not allowed. */
export type MediaState = 'coming' | 'here' | 'too_large' | 'gone' | 'refused' | 'failed'

/** Encrypted as one value. */
export interface MediaDetails extends Partial<Omit<MediaInfo, 'kind'>> {
  /** Detected from the content; null until the file is stored. */
  realType: string | null
}

const encryptionContext = (id: string, column: string) => ({ table: 'media', row: id, column })

export function encryptDetails(keyring: Keyring, id: string, details: MediaDetails): Buffer {
  return keyring.encrypt(encryptionContext(id, 'details'), JSON.stringify(details))
}

export function decryptDetails(keyring: Keyring, id: string, encrypted: Uint8Array): MediaDetails {
  return JSON.parse(keyring.decryptText(encryptionContext(id, 'details'), encrypted)) as MediaDetails
}

/** Keys of a row's files in the store; their names are separate columns. */
export interface FileKeys {
  file: Buffer
  /** The size of the preview has no column. */
  preview: { key: Buffer; bytes: number } | null
}

interface StoredKeys {
  file: string
  preview?: { key: string; bytes: number }
}

export function encryptFileKeys(keyring: Keyring, id: string, { file, preview }: FileKeys): Buffer {
  const stored: StoredKeys = {
    file: file.toString('base64'),
    ...(preview !== null && { preview: { key: preview.key.toString('base64'), bytes: preview.bytes } }),
  }
  return keyring.encrypt(encryptionContext(id, 'file_key'), JSON.stringify(stored))
}

export function decryptFileKeys(keyring: Keyring, id: string, encrypted: Uint8Array): FileKeys {
  const { file, preview } = JSON.parse(keyring.decryptText(encryptionContext(id, 'file_key'), encrypted)) as StoredKeys
  return {
    file: Buffer.from(file, 'base64'),
    preview: preview === undefined ? null : { key: Buffer.from(preview.key, 'base64'), bytes: preview.bytes },
  }
}
