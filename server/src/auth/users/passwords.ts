import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import pLimit from 'p-limit'
import { unavailable } from '../../base/errors.ts'

/** Hashes passwords, two at a time: each takes 19 MiB and tens of milliseconds of CPU. */
export interface Passwords {
  /** Returns a PHC string of argon2id. */
  hash(password: string): Promise<string>
  /** Returns false for a missing hash after the same time as for a wrong password. */
  matches(password: string, passwordHash: string | null): Promise<boolean>
}

export interface PasswordCost {
  memoryKib: number
  passes: number
}

const defaultCost: PasswordCost = { memoryKib: 19_456, passes: 2 }
const maxRunning = 2
const maxWaiting = 64
const saltBytes = 16
const tagBytes = 32

const derive = promisify(argon2)

export function createPasswords(cost: PasswordCost = defaultCost): Passwords {
  const limit = pLimit(maxRunning)
  const withLimit = async <T>(work: () => Promise<T>): Promise<T> => {
    if (limit.pendingCount >= maxWaiting) throw unavailable('Too many people are signing in. Try again shortly.')
    return limit(work)
  }
  const dummyHash = formatPhc(cost, randomBytes(saltBytes), randomBytes(tagBytes))

  return {
    hash: (password) =>
      withLimit(async () => {
        const salt = randomBytes(saltBytes)
        return formatPhc(cost, salt, await deriveTag(password, cost, salt))
      }),
    matches: (password, passwordHash) =>
      withLimit(async () => {
        const { cost: known, salt, tag } = parsePhc(passwordHash ?? dummyHash)
        const isSame = timingSafeEqual(await deriveTag(password, known, salt), tag)
        return isSame && passwordHash !== null
      }),
  }
}

function deriveTag(password: string, cost: PasswordCost, salt: Buffer): Promise<Buffer> {
  return derive('argon2id', {
    message: password.normalize('NFKC'),
    nonce: salt,
    parallelism: 1,
    tagLength: tagBytes,
    memory: cost.memoryKib,
    passes: cost.passes,
  })
}

function formatPhc({ memoryKib, passes }: PasswordCost, salt: Buffer, tag: Buffer): string {
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=1$${unpadded(salt)}$${unpadded(tag)}`
}

function parsePhc(phc: string): { cost: PasswordCost; salt: Buffer; tag: Buffer } {
  const parts = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([^$]+)\$([^$]+)$/.exec(phc)
  if (parts === null) throw new Error('A stored password hash is not one of argon2id')
  const [, memory, passes, salt = '', tag = ''] = parts
  const cost = { memoryKib: Number(memory), passes: Number(passes) }
  return { cost, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') }
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
