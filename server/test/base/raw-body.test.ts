import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { discardBody } from '../../src/base/bytes/raw-body.ts'

test('the rest of a refused body is discarded for 30 s after the response, and then the connection is closed', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const raw = new Readable({ read: () => {} })
  const reply = { raw: new EventEmitter() }
  const refused = new Error('refused')
  const leave = discardBody({ raw } as unknown as FastifyRequest, reply as unknown as FastifyReply)
  assert.throws(() => leave(refused), refused)
  assert.equal(raw.readableFlowing, null)
  reply.raw.emit('finish')
  assert.equal(raw.readableFlowing, true)
  t.mock.timers.tick(29_999)
  assert.equal(raw.destroyed, false)
  t.mock.timers.tick(1)
  assert.equal(raw.destroyed, true)
})
