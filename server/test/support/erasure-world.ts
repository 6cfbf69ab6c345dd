import { randomUUID } from 'node:crypto'
import { presentPayload } from '../../src/app/events.ts'
import { keyedTables } from '../../src/app/tables.ts'
import type { KeyedRow } from '../../src/base/encryption/key-store.ts'
import type { Customer, MessageDetail } from '../../src/channels/channel-event.ts'
import { enqueueSend } from '../../src/channels/unofficial/send/sends.ts'
import { encryptedAuthStore } from '../../src/channels/unofficial/transport/encrypted-auth-store.ts'
import { contactIndexes } from '../../src/inbox/conversation/encrypted-conversation.ts'
import { leadIndexes } from '../../src/leads/lead/encrypted-lead.ts'
import { runImports } from '../../src/leads/transfer/import/run-import.ts'
import { createDeliveryWorker } from '../../src/webhooks/deliver/worker.ts'
import { declaredPicture } from './inbox/declared-files.ts'
import { conversationPath, customerMessage, type InboxWorld, inboxWorld } from './inbox/inbox-world.ts'
import { uploadFile } from './leads/import-world.ts'
import { leadPath } from './leads/leads.ts'
import { signedInMember, type TestMember } from './member.ts'
import { makeInboxTokens } from './tokens.ts'
import { insertEndpoint } from './webhooks/insert-endpoint.ts'
import { type Receiver, startReceiver } from './webhooks/webhook-receiver.ts'
import { testTeamToken } from './world.ts'

/** Customer all of whose data contains a unique word. */
export interface Person {
  word: string
  phone: string
  /** Another spelling of the same number. */
  variant: string
  email: string
  userId: string
}

export interface Traces {
  leadIds: string[]
  conversationIds: string[]
  messageIds: string[]
  importId: string
}

export interface ErasureWorld extends InboxWorld {
  admin: TestMember
  receiver: Receiver
  sessionId: string
  /** Sends due webhooks. */
  drain(): Promise<void>
  /** Creates data of the person in every place that stores personal data. */
  seed(person: Person): Promise<Traces>
  erase(body: object): ReturnType<TestMember['call']>
}

const scopes = ['leads.read', 'leads.write', 'leads.delete', 'inbox.read', 'inbox.write'] as const

export async function erasureWorld(): Promise<ErasureWorld> {
  const w = await inboxWorld({ key: { scopes: [...scopes] } })
  const { db, keyStore, workspaceId } = w
  const admin = await signedInMember(w, 'admin')
  const receiver = await startReceiver()
  receiver.answer(({ text }) => ({ status: 200, body: `taken: ${text}` }))
  const keyring = await keyStore.keyring(workspaceId)
  await insertEndpoint(db, keyring, workspaceId, { url: receiver.url, secret: `whsec_${'c2VjcmV0'.repeat(5)}` })
  const worker = createDeliveryWorker({ ...w, present: presentPayload, random: () => 0 })
  const sessionId = await w.addConnection('unofficial')
  await db.sql`
    insert into channel_sessions (workspace_id, connection_id, state, state_changed_at, holder, fence, lease_until)
    values (${workspaceId}, ${sessionId}, 'stopped', ${w.clock.now()}, ${randomUUID()}, 1, now() + interval '1 day')`
  const more = { admin, receiver, sessionId, drain: () => worker.drain() }
  return {
    ...w,
    ...more,
    erase: (body) => admin.call('POST', '/erasures', body),
    seed: async (person) => {
      const leadIds = await seedLeads(w, admin, person)
      const talk = await seedInbox(w, admin, person)
      await seedSession({ ...w, sessionId }, person)
      const importId = await seedImport(w, person)
      await makeInboxTokens(w)
      await admin.call('POST', '/saved-filters', { page: 'leads', name: 'One', query: `search=${person.email}` })
      await worker.drain()
      // A failed delivery with a pending retry.
      receiver.answer(({ text }) => ({ status: 500, body: `refused: ${text}` }))
      await w.call('PATCH', leadPath(leadIds[0] ?? ''), { body: { status: 'won' } })
      await worker.drain()
      receiver.answer(({ text }) => ({ status: 200, body: `taken: ${text}` }))
      return { leadIds, ...talk, importId }
    },
  }
}

async function seedLeads(w: InboxWorld, admin: TestMember, { word, phone, variant, email }: Person): Promise<string[]> {
  const one = await w.lead({
    firstName: word,
    lastName: 'Duarte',
    phone,
    email,
    externalRef: `ref-${word}`,
    notes: `${word} wants a call`,
    customFieldValues: { k_city: `${word} city` },
  })
  await w.call('PATCH', leadPath(one.id), { body: { status: 'contacted' } })
  await admin.call('POST', `/leads/${one.id}/notes`, { text: `${word} likes mornings` })
  await admin.call('POST', '/lead-bulk-changes', { ids: [one.id], changes: { priority: 'urgent' } })
  const { label } = (await admin.call('POST', '/labels', { name: Buffer.from(word).toString('hex'), color: 'teal' }))
    .body
  await admin.call('PUT', `/leads/${one.id}/labels`, { labelIds: [label.id] })
  const deletedLead = await w.lead({ firstName: word, phone: variant })
  await w.call('DELETE', leadPath(deletedLead.id))
  // Two merged leads: only the merge connects the deleted one to the others.
  const mergedLead = await w.lead({ firstName: word, email: `also.${email}` })
  const into = await w.lead({ firstName: `${word} too`, email, phone })
  await admin.call('POST', `/leads/${into.id}/merge`, { otherId: mergedLead.id })
  const made = await admin.call('POST', '/forms', {
    name: 'Form',
    title: 'Form',
    fields: [
      { key: 'firstName', label: 'Name', type: 'text', required: true },
      { key: 'phone', label: 'Phone', type: 'phone', required: true },
    ],
  })
  const posted = await w.app.inject({
    method: 'POST',
    url: `/f/${made.body.form.slug}`,
    payload: { firstName: word, phone },
    headers: { 'content-type': 'application/json' },
  })
  if (posted.statusCode >= 400) throw new Error(`Not submitted: ${posted.body}`)
  const rows = await w.db.sql<{ lead_id: string }[]>`
    select lead_id from form_submissions
    where workspace_id = ${w.workspaceId} and form_id = ${made.body.form.id}`
  return [one.id, deletedLead.id, mergedLead.id, into.id, ...rows.map(({ lead_id }) => lead_id)]
}

async function seedInbox(w: InboxWorld, admin: TestMember, { word, phone, variant, userId }: Person) {
  const moment = () => {
    w.clock.advance(1000)
    return w.clock.now()
  }
  const say = (customer: object, text = `${word} writes`) =>
    w.deliver(customerMessage({ at: moment(), text, customer: { ...nobody, ...customer, name: word } }))
  // The phone and the platform's id first belong to separate conversations, which merge when a message names both.
  await say({ phone })
  await say({ userId })
  await say({ phone, userId })
  const second = await w.addConnection()
  await w.deliverOn(
    second,
    customerMessage({ at: moment(), text: word, customer: { ...nobody, phone: variant, name: word } }),
  )
  await sendRichMessages(w, moment, { ...nobody, phone, userId, name: word }, word)
  const found = [...(await w.conversations({ phone })), ...(await w.conversations({ phone: variant }))]
  const conversationIds = found.map(({ id }) => id)
  const [id = ''] = conversationIds
  await admin.call('POST', `/inbox/conversations/${id}/take-over`)
  const handover = { summary: `${word} wants a quote`, nextStep: `Ask ${word}` }
  await admin.call('POST', `/inbox/conversations/${id}/hand-back`, { keyId: w.keyId, note: handover })
  await w.call('PATCH', conversationPath(id), { body: { owner: `agent:${w.keyId}` } })
  const sent = await w.call('POST', `${conversationPath(id)}/messages`, {
    body: { kind: 'text', text: `Dear ${word}` },
    headers: { 'idempotency-key': randomUUID() },
  })
  if (sent.status !== 202) throw new Error(`Not sent: ${JSON.stringify(sent.body)}`)
  await w.deliver(w.status(`wamid.${sent.body.message_id}:1`, 'delivered'))
  const note = { text: `${word} is nice`, mentions: [admin.userId] }
  const notePosted = await admin.call('POST', `/inbox/conversations/${id}/notes`, note, {
    'idempotency-key': randomUUID(),
  })
  if (notePosted.status !== 201) throw new Error(`Not noted: ${JSON.stringify(notePosted.body)}`)
  const merged = await w.db.sql<{ id: string }[]>`
    select id from conversation_aliases where workspace_id = ${w.workspaceId} and conversation_id = ${id}`
  const messages = await w.db.sql<{ id: string }[]>`
    select id from messages where workspace_id = ${w.workspaceId} and conversation_id = any (${conversationIds}::uuid[])`
  return {
    conversationIds: [...conversationIds, ...merged.map((row) => row.id)],
    messageIds: messages.map((row) => row.id),
  }
}

/** Sends a picture with a contact and a quote, edits its caption, and adds and removes a reaction. */
async function sendRichMessages(w: InboxWorld, moment: () => Date, customer: Customer, word: string): Promise<void> {
  const id = (name: string) => `wamid.${word}.${name}`
  const cards = [{ name: word, organisation: word, phones: [], emails: [] }]
  const detail: MessageDetail = {
    media: { ...declaredPicture, name: `${word}.jpg` },
    cards,
    quoted: { externalId: id('picture'), text: word },
  }
  const reaction: MessageDetail = { reaction: { externalId: id('picture'), emoji: '👍' } }
  const about = (name: string) => ({ originalId: id(name), direction: 'inbound', customer, at: moment() }) as const
  await w.deliver(customerMessage({ at: moment(), customer, externalId: id('picture'), kind: 'image', detail }))
  await w.deliver(customerMessage({ at: moment(), customer, externalId: id('reaction'), text: '👍', detail: reaction }))
  await w.deliver({ type: 'edited', ...about('picture'), text: `${word} edited` })
  await w.deliver({ type: 'edited', ...about('picture'), text: `${word} edited again` })
  await w.deliver({ type: 'reaction_lifted', ...about('picture') })
}

const nobody = { userId: null, parentUserId: null, phone: null, name: null }

async function seedSession(w: InboxWorld & { sessionId: string }, { word, phone, userId }: Person): Promise<void> {
  const { db, keyStore, workspaceId, sessionId: connectionId, clock } = w
  const keyring = await keyStore.keyring(workspaceId)
  const send = { workspaceId, connectionId, kind: 'message', correlator: null, leftMs: () => 1000 } as const
  const content = { jid: `${phone}@s.whatsapp.net`, text: word, previewUrl: false }
  await db.tx((tx) => enqueueSend(tx, keyring, { ...send, id: `3EB0${word}`, content }, clock.now()))
  const read = { jid: userId, read: word }
  await db.tx((tx) =>
    enqueueSend(tx, keyring, { ...send, id: `read ${word}`, kind: 'read', content: read }, clock.now()),
  )
  await encryptedAuthStore(w, { workspaceId, connectionId, fence: 1 }).writeKeys([
    { type: 'session', id: `${phone}.0`, value: `"${word}"` },
    { type: 'lid-mapping', id: phone, value: JSON.stringify(userId) },
    { type: 'lid-mapping', id: `${userId.replace('@lid', '')}_reverse`, value: JSON.stringify(phone) },
    { type: 'device-list', id: phone, value: '["0"]' },
    { type: 'pre-key', id: '7', value: '"of nobody"' },
  ])
}

async function seedImport(w: InboxWorld, { word, phone }: Person): Promise<string> {
  const written = `+${phone.slice(0, 2)} (${phone.slice(2, 4)}) ${phone.slice(4, 9)}-${phone.slice(9)}`
  const id = await uploadFile(w, `name,phone,email\nSomebody,5511900000000,\n,${written},${word}@x\n`)
  const path = `/api/team/v1/workspaces/${w.workspaceId}/lead-imports/${id}/start`
  await w.call('POST', path, { key: testTeamToken, body: { match: 'none' } })
  await runImports(w, new AbortController().signal)
  return id
}

/** Returns every row of the database as text, and every decrypted value, one line each. */
export async function dumpDatabase({
  db,
  keyStore,
  workspaceId,
}: ErasureWorld): Promise<{ table: string; text: string }[]> {
  const tables = await db.sql<{ name: string }[]>`
    select table_name as name
    from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'
      -- Rows of a partition are those of its table.
      and not exists (select from pg_inherits where inhrelid = to_regclass(quote_ident(table_name)))
    order by 1`
  const keyring = await keyStore.keyring(workspaceId)
  const lines: { table: string; text: string }[] = []
  for (const { name } of tables) {
    const rows = await db.sql<{ text: string }[]>`select to_jsonb(t)::text as text from ${db.sql(name)} t`
    lines.push(...rows.map(({ text }) => ({ table: name, text })))
  }
  for (const encrypted of keyedTables.encrypted.filter(({ keyScope }) => keyScope === 'workspace')) {
    const rows = await db.sql<KeyedRow[]>`
      select * from ${db.sql(encrypted.table)} where workspace_id = ${workspaceId}`
    for (const row of rows) {
      for (const [column, place] of Object.entries(encrypted.locations)) {
        const value = row[column] as Buffer | null
        if (value?.length) lines.push({ table: encrypted.table, text: keyring.decryptText(place(row), value) })
      }
    }
  }
  return lines
}

/** Returns the places of a person's data in the database, as `table: trace`. */
export async function findTraces(w: ErasureWorld, person: Person, ids: readonly string[]): Promise<string[]> {
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const { word, phone, variant, email, userId } = person
  const ofLead = leadIndexes(keyring, { email, phone })
  const ofInbox = [phone, variant].map((one) => contactIndexes(keyring, { userId, phone: one }))
  const digests = [
    ofLead.email_index,
    ofLead.phone_index,
    ...ofInbox.flatMap((one) => [one.user_index, one.phone_index, one.phone_exact_index]),
  ].map((digest) => digest?.toString('hex') ?? '')
  const wanted = [word.toLowerCase(), phone.slice(-8), email.toLowerCase(), userId, ...digests, ...ids]
  const found = (await dumpDatabase(w)).flatMap(({ table, text }) => {
    const lower = text.toLowerCase()
    return wanted.filter((trace) => lower.includes(trace)).map((trace) => `${table}: ${trace}`)
  })
  return [...new Set(found)].sort()
}
