import { conflict, gone } from '../../../server/src/base/errors.ts'
import type { App } from '../../../server/src/base/route.ts'
import { takeFile } from '../files/take-file.ts'
import type { Platform } from '../platform.ts'
import type { BusinessNumber } from '../world.ts'
import type { Device, LinkedSocket } from './network.ts'
import { openSocket, unlink } from './open.ts'
import { makeCode } from './pairing.ts'
import { dropSocket, poll } from './socket.ts'
import * as schema from './socket-schema.ts'
import { takeFromDevice, takeRead } from './take.ts'

const one = '/linked/sockets/:socketId'
const params = schema.socketParams

/**
 * The network as linked devices see it: a socket is opened, tells events to whoever asks for the next, and takes
 * messages. Its id is a secret, by which it is known.
 */
export function socketRoutes(app: App, platform: Platform): void {
  const hide = true
  app.post('/linked/sockets', { schema: { hide, body: schema.open } }, ({ body }, reply) => {
    note(platform, 'POST', '', { device: body.credentials?.device ?? null })
    return reply.code(201).send({ socketId: openSocket(platform, body.credentials).id })
  })
  app.post(`${one}/poll`, { schema: { hide, params, body: schema.pollRequest } }, (request) => {
    const socket = socketOf(platform, request.params.socketId)
    const { after, ratchet, waitMs } = request.body
    advance(socket, ratchet)
    return poll(platform, socket, after, waitMs)
  })
  app.post(`${one}/messages`, { schema: { hide, params, body: schema.message } }, (request, reply) => {
    const [number, device, socket] = deviceOf(platform, request.params.socketId)
    note(platform, 'POST', '/messages', request.body)
    advance(socket, request.body.ratchet)
    return takeFromDevice(platform, number, device, request.body, reply)
  })
  // What Baileys does by itself when a message with a file is sent: the file goes first.
  app.post(`${one}/files`, { schema: { hide, params, querystring: schema.fileQuery } }, async (request, reply) => {
    const [number] = deviceOf(platform, request.params.socketId)
    note(platform, 'POST', '/files', null)
    const { type, name } = request.query
    const file = await takeFile(platform, number.numberId, { body: request.body, type, name })
    return reply.code(201).send({ fileId: file.id })
  })
  app.post(`${one}/read`, { schema: { hide, params, body: schema.read } }, (request) => {
    const [number] = deviceOf(platform, request.params.socketId)
    note(platform, 'POST', '/read', request.body)
    takeRead(platform, number, request.body.jid, request.body.id)
    return { taken: true }
  })
  app.post(`${one}/pairing-code`, { schema: { hide, params, body: schema.codeRequest } }, (request) => ({
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

// Calls may overtake each other. What counts is whether a device comes back with what it had.
function advance({ device }: LinkedSocket, ratchet: number): void {
  if (device !== null) device.ratchet = Math.max(device.ratchet, ratchet)
}
