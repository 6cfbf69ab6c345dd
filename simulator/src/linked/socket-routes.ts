import { Type } from 'typebox'
import { conflict, gone } from '../../../server/src/base/errors.ts'
import { type App, nullable, oneOf } from '../../../server/src/base/route.ts'
import { wholeNumber } from '../../../server/src/base/schema-types.ts'
import { closedObject } from '../control-schema.ts'
import { storeUpload } from '../files/inspect-file.ts'
import { fileKinds } from '../files/present-file.ts'
import type { Platform } from '../platform.ts'
import type { BusinessNumber } from '../world.ts'
import { handleMessage, handleRead, handleTyping } from './handle-message.ts'
import type { Device, LinkedSocket } from './network.ts'
import { credentials, makeCode, openSocket, unlink } from './pairing.ts'
import { dropSocket, poll } from './socket.ts'

const ratchet = wholeNumber('Key position of the device')
const jid = Type.String({ minLength: 1, maxLength: 120, example: '5511955501234@s.whatsapp.net' })
const messageId = Type.String({ minLength: 1, maxLength: 120 })

const open = closedObject({ credentials: nullable(credentials) })
const params = Type.Object({ socketId: Type.String({ maxLength: 60 }) })
const pollRequest = closedObject({
  after: wholeNumber('Sequence number of the last acknowledged event'),
  ratchet,
  waitMs: Type.Integer({ minimum: 0, maximum: 25_000 }),
})
const message = closedObject({
  id: messageId,
  jid,
  text: Type.Optional(Type.String({ minLength: 1, maxLength: 65_536, description: 'Message text or file caption' })),
  previewUrl: Type.Boolean(),
  file: Type.Optional(
    closedObject({
      fileId: Type.String({ maxLength: 40, description: 'Id from the upload' }),
      kind: oneOf(fileKinds),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 240 })),
    }),
  ),
  quotes: Type.Optional(messageId),
  reaction: Type.Optional(
    closedObject({
      about: messageId,
      emoji: Type.String({ maxLength: 40, description: 'Empty to remove the reaction' }),
    }),
  ),
  ratchet,
})
const fileQuery = closedObject({
  type: Type.String({ minLength: 3, maxLength: 120, example: 'image/jpeg' }),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 240 })),
})
const read = closedObject({ jid, id: messageId })
const typing = closedObject({ jid, isTyping: Type.Boolean() })
const codeRequest = closedObject({
  phone: Type.String({ pattern: '^\\d{5,20}$', maxLength: 20, description: 'Digits with country code' }),
})

const one = '/linked/sockets/:socketId'

/**
 * Registers the network's API for linked devices: opens sockets, serves events by long polling, and accepts messages.
 * The socket's id is a secret that authenticates its requests.
 */
export function socketRoutes(app: App, platform: Platform): void {
  const hide = true
  app.post('/linked/sockets', { schema: { hide, body: open } }, ({ body }, reply) => {
    note(platform, 'POST', '', { device: body.credentials?.device ?? null })
    return reply.code(201).send({ socketId: openSocket(platform, body.credentials).id })
  })
  app.post(`${one}/poll`, { schema: { hide, params, body: pollRequest } }, (request) => {
    const socket = socketOf(platform, request.params.socketId)
    const { after, ratchet, waitMs } = request.body
    recordKeyPosition(socket, ratchet)
    return poll(platform, socket, after, waitMs)
  })
  app.post(`${one}/messages`, { schema: { hide, params, body: message } }, (request, reply) => {
    const [number, device, socket] = deviceOf(platform, request.params.socketId)
    note(platform, 'POST', '/messages', request.body)
    recordKeyPosition(socket, request.body.ratchet)
    return handleMessage(platform, number, device, request.body, reply)
  })
  // Baileys does the same when it sends a message with a file: it uploads the file first.
  app.post(`${one}/files`, { schema: { hide, params, querystring: fileQuery } }, async (request, reply) => {
    const [number] = deviceOf(platform, request.params.socketId)
    note(platform, 'POST', '/files', null)
    const { type, name } = request.query
    const file = await storeUpload(platform, number.numberId, { body: request.body, type, name })
    return reply.code(201).send({ fileId: file.id })
  })
  app.post(`${one}/read`, { schema: { hide, params, body: read } }, (request) => {
    const [number] = deviceOf(platform, request.params.socketId)
    note(platform, 'POST', '/read', request.body)
    handleRead(platform, number, request.body.jid, request.body.id)
    return { taken: true }
  })
  app.post(`${one}/typing`, { schema: { hide, params, body: typing } }, (request) => {
    const [number] = deviceOf(platform, request.params.socketId)
    note(platform, 'POST', '/typing', request.body)
    handleTyping(platform, number, request.body.jid, request.body.isTyping)
    return { taken: true }
  })
  app.post(`${one}/pairing-code`, { schema: { hide, params, body: codeRequest } }, (request) => ({
    code: makeCode(platform, socketOf(platform, request.params.socketId), request.body.phone),
  }))
  app.post(`${one}/logout`, { schema: { hide, params } }, (request) => {
    const [, device] = deviceOf(platform, request.params.socketId)
    note(platform, 'POST', '/logout', null)
    unlink(platform, device)
    return { unlinked: true }
  })
  app.post(`${one}/close`, { schema: { hide, params } }, (request) => {
    dropSocket(platform, socketOf(platform, request.params.socketId))
    return { closed: true }
  })
}

function note({ journal, clock }: Platform, method: string, path: string, body: unknown): void {
  journal.add({ kind: 'call', at: clock.now(), method, path: `/linked/sockets${path}`, body })
}

function socketOf({ linked }: Platform, id: string): LinkedSocket {
  const socket = linked.sockets.get(id)
  if (socket === undefined) throw gone('This socket is not open')
  return socket
}

function deviceOf(platform: Platform, id: string): [BusinessNumber, Device, LinkedSocket] {
  const socket = socketOf(platform, id)
  if (socket.isClosed) throw gone('This socket is not open')
  const number = platform.world.numbers.get(socket.device?.numberId ?? '')
  if (socket.device === null || number === undefined) throw conflict('Link the device to a phone first')
  return [number, socket.device, socket]
}

// Calls may arrive out of order. Only a device that returns with a lower position has lost keys.
function recordKeyPosition({ device }: LinkedSocket, ratchet: number): void {
  if (device !== null) device.ratchet = Math.max(device.ratchet, ratchet)
}
