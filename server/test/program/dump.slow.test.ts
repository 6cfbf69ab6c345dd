import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { newFolder } from '../support/folder.ts'
import { freePort, newWorkspace, operatorToken, type Service, startService } from '../support/program/service.ts'

const said = {
  firstName: 'Zyxwcanaria',
  lastName: 'Qwertyperson',
  email: 'Dump.Canary@zz-seeded.example',
  phone: '5581977665544',
  notes: 'notes-canary-4711',
  custom: 'custom-canary-0815',
  member: 'Member Canaryson',
  memberEmail: 'member.canary@zz-seeded.example',
  customer: 'Customer Canaryova',
  customerPhone: '5581966554433',
  question: 'Does the canary sing at 0817?',
  reply: 'It sings at 0933, dear canary.',
}

test('the database, its files and the logs show nothing of what people said or how they are reached', async () => {
  const folder = await newFolder()
  const simulatorPort = await freePort()
  const simulator = `http://127.0.0.1:${simulatorPort}`
  const limits = { PARLEY_INBOX_RATE_LIMIT: '0' }
  const env = { ...limits, PARLEY_SIMULATOR: '1', PARLEY_SIMULATOR_PORT: String(simulatorPort) }
  const service = await startService({ folder, port: await freePort(), env })
  const { workspaceId, key } = await newWorkspace(service.url)
  await leaveTraces(service.url, workspaceId, key)
  await chat(service, simulator, workspaceId)
  service.kill('SIGTERM')
  assert.equal(await service.gone, 0)

  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  assert.ok(files.length > 500, 'the data folder holds the database')
  assert.ok(service.lines().length > 15, 'every request is logged')
  const found: string[] = []
  for (const file of files) {
    const path = join(file.parentPath, file.name)
    found.push(...spellingsIn(await readFile(path)).map((spelling) => `${path}: ${spelling}`))
  }
  found.push(
    ...spellingsIn(Buffer.from([...service.lines(), service.told()].join('\n'))).map((spelling) => `log: ${spelling}`),
  )
  assert.deepEqual(found, [])
})

/** Every way in which a person's data passes: created, changed, searched, looked up, refused, deleted, invited. */
async function leaveTraces(url: string, workspaceId: string, key: string): Promise<void> {
  const call = async (method: string, path: string, body?: object, token = key) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return response.status
  }
  const { firstName, lastName, email, phone, notes, custom } = said
  const lead = { firstName, lastName, email, phone, notes }
  const leads = '/api/v1/leads'
  const match = { by: 'phone', value: phone }
  assert.equal(await call('POST', `${leads}?k_city=${custom}`, lead), 201)
  assert.equal(await call('PATCH', `${leads}/${phone}`, { firstName: `${firstName} II` }), 200)
  assert.equal(await call('POST', `${leads}/upsert`, { match, lead: { notes: `${notes}!` } }), 200)
  assert.equal(await call('POST', `${leads}/bulk-upsert`, { items: [{ match, lead: { lastName } }] }), 200)
  for (const term of [firstName, lastName, email, phone]) {
    assert.equal(await call('GET', `${leads}?search=${encodeURIComponent(term)}`), 200)
  }
  assert.equal(await call('POST', leads, { ...lead, email: `${email} ${phone}` }), 400)
  assert.equal(await call('POST', leads, { ...lead, externalRef: { firstName } }), 400)
  assert.equal(await call('GET', `${leads}/${encodeURIComponent(email)}`), 404)
  assert.equal(await call('GET', `/${encodeURIComponent(firstName)}`), 404)
  assert.equal(await call('DELETE', `${leads}/${phone}`), 200)
  const invitations = `/api/team/v1/workspaces/${workspaceId}/invitations`
  const invitation = { email: said.memberEmail, role: 'member' }
  assert.equal(await call('POST', invitations, invitation, operatorToken), 201)
  const signIn = { email: said.memberEmail, password: `${said.member} guesses` }
  assert.equal(await call('POST', '/api/team/v1/sign-in', signIn), 401)
}

/** A customer writes on the simulated phone, and the agent that owns the conversation answers. */
async function chat(service: Service, simulator: string, workspaceId: string): Promise<void> {
  const team = `${service.url}/api/team/v1/workspaces/${workspaceId}`
  const settingsOfKey = { name: 'Agent', scopes: ['inbox.read', 'inbox.write'] }
  const { value: agent } = await json('POST', `${team}/keys`, operatorToken, settingsOfKey)
  const { numbers } = await json('GET', `${simulator}/simulator/numbers`)
  const { numberId, accountId, accessToken, appSecret, verifyToken } = numbers[0]
  const settings = { baseUrl: simulator, accessToken, appSecret, verifyToken }
  const number = { channel: 'waba', name: 'Sales', numberId, accountId, ...settings }
  const { connection } = await json('POST', `${team}/connections`, operatorToken, number)
  const callbackUrl = `${service.url}/channels/waba/${connection.id}/webhook`
  await json('PATCH', `${simulator}/simulator/numbers/${numberId}`, undefined, { callbackUrl })
  const phone = { name: said.customer, phone: said.customerPhone }
  const { id } = await json('POST', `${simulator}/simulator/customers`, undefined, phone)
  await json('POST', `${simulator}/simulator/customers/${id}/messages`, undefined, { text: said.question })

  const inbox = `${service.url}/api/v1/inbox/conversations`
  let conversations: { id: string }[] = []
  // The platform calls back in its own time, which is a few milliseconds.
  for (let look = 0; conversations.length === 0 && look < 500; look++) {
    conversations = (await json('GET', `${inbox}?phone=${said.customerPhone}`, agent)).conversations
  }
  const messages = `${inbox}/${conversations[0]?.id}/messages`
  const sent = await json('POST', messages, agent, { kind: 'text', text: said.reply }, { 'idempotency-key': 'one' })
  assert.equal(sent.status, 'sent')
  const read = await json('GET', messages, agent)
  assert.deepEqual(
    read.messages.map((message: { text: string }) => message.text),
    [said.question, said.reply],
  )
  await json('PATCH', `${inbox}/${conversations[0]?.id}`, agent, { note: `${said.notes} for ${said.customer}` })
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape; a test fails where one is wrong
async function json(method: string, url: string, token?: string, body?: object, more: object = {}): Promise<any> {
  const headers = { ...(token && { authorization: `Bearer ${token}` }), ...(body && jsonBody), ...more }
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  assert.ok(response.ok, `${method} answers ${response.status}: ${await response.clone().text()}`)
  return response.json()
}

const jsonBody = { 'content-type': 'application/json' }

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
