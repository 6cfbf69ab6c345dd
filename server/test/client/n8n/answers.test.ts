import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { newId } from '../../../src/base/id.ts'
import { replaceTemplates } from '../../../src/channels/templates/templates.ts'
import { atEnd, oncePerFile } from '../../support/file-lifecycle.ts'
import { png } from '../../support/inbox/files-world.ts'
import { customerMessage } from '../../support/inbox/inbox-world.ts'
import { about, type N8nWorld, n8nWorld } from '../../support/n8n/n8n-world.ts'

interface FilesWorld extends N8nWorld {
  /** A customer has written, on a connection that accepts files. */
  id: string
  writes(text: string): Promise<void>
}

/** The platform's upload address. */
const filesUrl = oncePerFile(async () => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{"id":"file-1"}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

async function withFiles(): Promise<FilesWorld> {
  const w = await n8nWorld()
  await w.media.writeMark('a mark')
  const connectionId = await w.addConnection('waba', await filesUrl())
  const writes = (text: string) => w.deliverOn(connectionId, customerMessage({ at: w.clock.now(), text }))
  await writes('Show me')
  const [{ id }] = await w.conversations()
  const sent = () =>
    w.platform.sends.filter((sent) => sent.connectionId === connectionId).map(({ order }) => order.message)
  return { ...w, connectionId, id, writes, sent }
}

const picture = { data: { mimeType: 'image/png', fileName: 'a b.png', bytes: png } }

/** Files that were sent to customers. */
const filesTold = (w: N8nWorld) =>
  w.sent().flatMap((said) => (said.kind === 'media' ? [[said.file.kind, said.file.name, said.caption]] : []))

test('a file of the item is sent in one step, and once despite retries', async () => {
  const w = await withFiles()
  const { id } = w
  const answer = about('answerWithFile', id, { caption: 'Here it is.' })
  const asked: string[] = []
  const [first] = await w.run(answer, { binary: picture, asked })
  assert.deepEqual(asked, [`POST /api/v2/conversations/${id}/files`, `POST /api/v2/conversations/${id}/answer`])
  w.clock.advance(1000)
  // A later customer message would change Parley's default key.
  await w.writes('Hello?')
  const [again] = await w.run(answer, { binary: picture })
  assert.deepEqual([first?.json.was_new, again?.json.was_new], [true, false])
  assert.equal(again?.json.message_id, first?.json.message_id)
  assert.deepEqual(filesTold(w), [['image', 'a b.png', 'Here it is.']])
  const other = { data: { ...picture.data, bytes: Buffer.concat([png, Buffer.alloc(1)]) } }
  await w.run(answer, { binary: other })
  assert.equal(filesTold(w).length, 2)
})

test('the kind of a file follows its media type unless set, and its name can be set', async () => {
  const w = await withFiles()
  const { id } = w
  const csv = { mimeType: 'text/csv', fileName: 'prices.csv', bytes: Buffer.from('plan,price\ngold,12\n') }
  const binary = { ...picture, csv }
  await w.run(about('answerWithFile', id, { binaryPropertyName: 'csv' }), { binary })
  const unknown = { ...picture.data, mimeType: 'application/octet-stream' }
  const named = { kind: 'image', more: { fileName: 'plan.png' } }
  await w.run(about('answerWithFile', id, named), { binary: { data: unknown } })
  assert.deepEqual(filesTold(w), [
    ['document', 'prices.csv', ''],
    ['image', 'plan.png', ''],
  ])
  await assert.rejects(w.run(about('answerWithFile', id, { binaryPropertyName: 'gone' }), { binary }), /gone/)
  const wrong = about('answerWithFile', id, { kind: 'video' })
  const [failed] = await w.run(wrong, { binary, continueOnFail: true })
  assert.match(failed?.json.error, /document/)
  assert.equal(w.sent().length, 2)
})

test('buttons and rows are sent as entered, and the chosen id is returned', async () => {
  const w = await n8nWorld()
  const { id } = await w.customerWrites('When can I come?')
  const button = [
    { title: 'Today', id: 'today' },
    { title: 'Later', id: '' },
  ]
  const offer = about('answerWithButtons', id, { text: 'When?', buttons: { button }, more: { footer: 'Until 18:00.' } })
  const [offered] = await w.run(offer)
  const [again] = await w.run(offer)
  assert.deepEqual([offered?.json.was_new, again?.json.was_new], [true, false])
  const row = [
    { title: '9:00', description: 'With Ana', id: '' },
    { title: '10:00', description: '', id: 'ten' },
  ]
  await w.run(about('answerWithList', id, { text: 'At what time?', button: 'See the times', rows: { row } }))
  const buttons = [
    { id: 'today', title: 'Today' },
    { id: '2', title: 'Later' },
  ]
  const rows = [
    { id: '1', title: '9:00', description: 'With Ana' },
    { id: 'ten', title: '10:00' },
  ]
  assert.deepEqual(w.sent(), [
    { kind: 'choices', text: 'When?', choices: { footer: 'Until 18:00.', buttons } },
    { kind: 'choices', text: 'At what time?', choices: { list: { button: 'See the times', rows } } },
  ])
  w.clock.advance(1000)
  const quoted = { externalId: `wamid.${offered?.json.message_id}:1`, text: null }
  await w.customerWrites('Today', { detail: { chosen: 'today', quoted } })
  const [read] = await w.run(about('get', id))
  assert.deepEqual(read?.json.messages.at(-1).chosen, { id: 'today', title: 'Today' })
  const none = about('answerWithButtons', id, { text: 'When?' })
  await assert.rejects(w.run(none), (error: Error & { description?: string }) =>
    /^choices.buttons: /.test(error.description ?? ''),
  )
})

test('a template with a header image uses the file of the item', async () => {
  const w = await withFiles()
  const fixed = { category: 'UTILITY', status: 'APPROVED', parameterNames: null, bodyOnly: false }
  const template = { ...fixed, name: 'new_plan', language: 'en_US', body: 'See.', parameterCount: 0 }
  const all = [{ id: newId(w.clock.now()), ...template, header: 'image' as const }]
  await w.db.tx((tx) => replaceTemplates(tx, { ...w, id: w.connectionId }, all, w.clock.now()))
  const filled = { template: 'new_plan/en_US', more: { binaryPropertyName: 'data' } }
  await w.run(about('answerWithTemplate', w.id, filled), { binary: picture })
  const [sent] = w.sent()
  assert.equal(sent?.kind === 'template' && sent.header?.kind, 'image')
})
