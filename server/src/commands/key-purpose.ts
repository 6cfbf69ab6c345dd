import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { isPurpose, type Purpose, purposes } from '../access/keys/scopes.ts'

const words: Record<Purpose, string> = {
  answering: 'an agent that answers chats, and reads and changes leads',
  syncing: 'a program that brings leads and keeps them up to date',
  reading: 'a program that reads leads and conversations and changes nothing',
}

export const purposeNames = Object.keys(purposes) as Purpose[]

/** What a key may do: the scopes that were named, or those of what it is for. */
export interface KeyRights {
  scopes: readonly string[]
  answersNewConversations?: boolean
}

interface Terminal {
  input: Readable & { isTTY?: boolean }
  output: Writable
}

/**
 * The rights of a new key. Without scopes and without a purpose a person at a terminal is asked, and a script is told: no
 * key gets rights that nobody has named.
 */
export async function chooseRights(
  chosen: { for?: string; scope?: readonly string[] },
  terminal: Terminal,
): Promise<KeyRights> {
  if (chosen.scope !== undefined) return { scopes: chosen.scope }
  if (chosen.for !== undefined && isPurpose(chosen.for)) return purposes[chosen.for]
  if (terminal.input.isTTY !== true) {
    throw new Error(
      `Say what the key is for, with --for, or name its scopes, each with --scope.\n${choices().join('\n')}`,
    )
  }
  return purposes[await ask(terminal)]
}

const choices = () => purposeNames.map((name) => `  --for ${name.padEnd(10)} ${words[name]}`)

async function ask({ input, output }: Terminal): Promise<Purpose> {
  const list = purposeNames.map((name, n) => `  ${n + 1}  ${name}: ${words[name]}\n`).join('')
  const prompt = `1 to ${purposeNames.length}: `
  output.write(`What is the key for?\n${list}${prompt}`)
  for await (const line of createInterface({ input })) {
    const typed = line.trim().toLowerCase()
    const purpose = purposeNames[Number(typed) - 1] ?? typed
    if (isPurpose(purpose)) return purpose
    output.write(prompt)
  }
  throw new Error('No key was made: nobody said what it is for')
}
