import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ask, newWorkspace, operatorToken, startService } from '../support/program/service.ts'

// That no table and no log line has it, whatever was called, `server/test/faults/plaintext.test.ts` tests: here are the files.

const said = {
  firstName: 'Zyxwcanaria',
  lastName: 'Qwertyperson',
  email: 'Dump.Canary@zz-seeded.example',
  phone: '5581977665544',
  notes: 'notes-canary-4711',
  custom: 'custom-canary-0815',
  member: 'Member Canaryson',
  memberEmail: 'member.canary@zz-seeded.example',
}

test('the database, its files and the logs contain no plaintext of messages or contacts', async () => {
  const service = await startService()
  const { workspaceId, key } = await newWorkspace(service.url)
  await leaveTraces(service.url, workspaceId, key)
  await service.stop()
  const entries = await readdir(service.folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((file) => join(file.parentPath, file.name))
  assert.ok(files.length > 500, 'the data folder holds the database')
  assert.ok(service.lines().length > 15, 'every request is logged')
  const found: string[] = []
  for (const path of files) found.push(...spellingsIn(await readFile(path)).map((spelling) => `${path}: ${spelling}`))
  found.push(...spellingsIn(Buffer.from([...service.lines(), service.output()].join('\n'))))
  assert.deepEqual(found, [])
})

/** Every way in which a person's data passes: created, changed, searched, looked up, refused, deleted, invited. */
async function leaveTraces(url: string, workspaceId: string, key: string): Promise<void> {
  const { firstName, lastName, email, phone, notes, custom } = said
  const lead = { firstName, lastName, email, phone, notes }
  const leads = '/api/v1/leads'
  const match = { by: 'phone', value: phone }
  const signIn = { email: said.memberEmail, password: `${said.member} guesses` }
  const calls: [what: string, status: number, body?: object][] = [
    [`POST ${leads}?k_city=${custom}`, 201, lead],
    [`PATCH ${leads}/${phone}`, 200, { firstName: `${firstName} II` }],
    [`POST ${leads}/upsert`, 200, { match, lead: { notes: `${notes}!` } }],
    [`POST ${leads}/bulk-upsert`, 200, { items: [{ match, lead: { lastName } }] }],
    ...[firstName, lastName, email, phone].map((term): [string, number] => [
      `GET ${leads}?search=${encodeURIComponent(term)}`,
      200,
    ]),
    [`POST ${leads}`, 400, { ...lead, email: `${email} ${phone}` }],
    [`GET ${leads}/${encodeURIComponent(email)}`, 404],
    [`GET /${encodeURIComponent(firstName)}`, 404],
    [`DELETE ${leads}/${phone}`, 200],
    ['POST /api/team/v1/sign-in', 401, signIn],
  ]
  for (const [what, status, body] of calls) assert.equal((await ask(url, key, what, body)).status, status, what)
  const invitations = `POST /api/team/v1/workspaces/${workspaceId}/invitations`
  const invitation = { email: said.memberEmail, role: 'member' }
  assert.equal((await ask(url, operatorToken, invitations, invitation)).status, 201)
}

/** Which of the values stand in the bytes: as they are, in lower case, reversed, as hex or as base64. */
function spellingsIn(bytes: Buffer): string[] {
  return Object.entries(said).flatMap(([name, value]) =>
    spellings(value)
      .filter((spelling) => bytes.includes(spelling))
      .map(() => name),
  )
}

function spellings(value: string): Buffer[] {
  const plain = Buffer.from(value)
  const hex = plain.toString('hex')
  // In base64 a value looks different at each of three offsets, and its ends depend on what stands beside it.
  const base64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), plain]).toString('base64')
    return text.slice(Math.ceil((offset * 4) / 3), -4)
  })
  const reversed = [...value].reverse().join('')
  return [value, value.toLowerCase(), reversed, hex, hex.toUpperCase(), ...base64].map((text) => Buffer.from(text))
}
