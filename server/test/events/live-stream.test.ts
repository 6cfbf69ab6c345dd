import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { checkStreams, type Stream } from '../../src/events/live-stream.ts'

function streamWith(namesNow: Stream['namesNow']): Stream {
  const out = new ServerResponse(new IncomingMessage(new Socket()))
  return {
    workspaceId: '',
    out,
    userId: null,
    sessionId: null,
    tokenId: null,
    names: ['lead.created'],
    namesNow,
    position: 0,
    wasFull: false,
  }
}

test('a stream that cannot be checked goes on, is told of, and keeps no other from its check', async () => {
  const failed = new Error('The database is away')
  const unknown = streamWith(() => Promise.reject(failed))
  const over = streamWith(async () => null)
  const errors: unknown[] = []
  await checkStreams([unknown, over], (error) => errors.push(error))
  assert.deepEqual(errors, [failed])
  assert.equal(unknown.out.writableEnded, false)
  assert.equal(over.out.writableEnded, true)
})
