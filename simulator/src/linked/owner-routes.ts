import { Type } from 'typebox'
import { notFound, unprocessable } from '../../../server/src/base/errors.ts'
import type { App } from '../../../server/src/base/route.ts'
import { closedObject } from '../control-schema.ts'
import { sendFromDevice } from '../customer-actions.ts'
import { presentCustomer } from '../customer-routes.ts'
import { markRead } from '../message-statuses.ts'
import type { Platform } from '../platform.ts'
import type { BusinessNumber, Customer } from '../world.ts'
import { jidOf } from './baileys-shapes.ts'
import { customerAt } from './handle-message.ts'
import { devicesOf } from './network.ts'
import { closeDeviceSockets, enterCode, isFor, scan, unlink, waitingSockets } from './pairing.ts'
import { queueForDevices } from './socket.ts'

const customerId = Type.String({ maxLength: 20 })

const params = Type.Object({ numberId: Type.String({ maxLength: 40 }) })
const deviceParams = Type.Object({
  numberId: Type.String({ maxLength: 40 }),
  deviceId: Type.String({ maxLength: 60 }),
})
const scanned = closedObject({
  qr: Type.String({ minLength: 1, maxLength: 1000, description: 'Content of the QR code' }),
})
const typedCode = closedObject({
  code: Type.String({ minLength: 8, maxLength: 20, description: 'Eight characters; dashes and case are ignored' }),
})
const opened = closedObject({ customerId })
const newChat = closedObject({
  phone: Type.String({ pattern: '^\\d{5,20}$', maxLength: 20, description: 'Digits with country code' }),
  text: Type.String({ minLength: 1, maxLength: 4096 }),
})
const drop = closedObject({
  code: Type.Integer({ minimum: 400, maximum: 599, description: 'Close code', example: 428 }),
  again: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1000,
      default: 0,
      description: 'Number of next sockets to close with it',
    }),
  ),
})
const rawEvent = closedObject({
  event: Type.String({ pattern: '^[a-z]+([-.][a-z]+)*$', maxLength: 60, example: 'messages.upsert' }),
  data: Type.Unknown({ description: 'Any JSON value' }),
})

const tags = ['Linked devices']
const one = '/simulator/phones/:numberId'

/** Registers the actions of a phone's owner, and of the network on the linked devices. */
export function ownerRoutes(app: App, platform: Platform): void {
  const { world } = platform
  app.get('/simulator/phones', { schema: { tags, summary: 'List phones that devices can be linked to' } }, () => ({
    phones: [...world.numbers.values()]
      .filter(({ network }) => network === 'linked')
      .map((number) => presentPhone(platform, number)),
  }))
  app.get(one, { schema: { tags, summary: 'Read a phone: chats, linked devices, pending codes', params } }, (request) =>
    presentPhone(platform, phoneOf(platform, request.params.numberId)),
  )
  linkRoutes(app, platform)
  chatRoutes(app, platform)
  networkRoutes(app, platform)
}

function linkRoutes(app: App, platform: Platform): void {
  const scans = { tags, summary: 'Scan a QR code with the phone', params, body: scanned }
  app.post(`${one}/scan`, { schema: scans }, (request) => {
    const number = phoneOf(platform, request.params.numberId)
    return { deviceId: scan(platform, number, request.body.qr).id }
  })
  const types = { tags, summary: 'Enter the pairing code of a device on the phone', params, body: typedCode }
  app.post(`${one}/code`, { schema: types }, (request) => {
    const number = phoneOf(platform, request.params.numberId)
    return { deviceId: enterCode(platform, number, request.body.code).id }
  })
  const unlinks = { tags, summary: 'Unlink a device', params: deviceParams }
  app.delete(`${one}/devices/:deviceId`, { schema: unlinks }, ({ params: { numberId, deviceId } }) => {
    const number = phoneOf(platform, numberId)
    const device = platform.linked.devices.get(deviceId)
    if (device === undefined || device.numberId !== numberId) throw notFound('Device not found')
    unlink(platform, device)
    return presentPhone(platform, number)
  })
}

// Replies to an existing chat go through the customer's echo route.
function chatRoutes(app: App, platform: Platform): void {
  const begins = { tags, summary: 'Send a message to any number as the owner', params, body: newChat }
  app.post(`${one}/messages`, { schema: begins }, ({ params: { numberId }, body: { phone, text } }, reply) => {
    const number = phoneOf(platform, numberId)
    const customer = customerAt(platform, number, jidOf(phone))
    if (customer === undefined) throw unprocessable('Phone not found')
    const { id, status, at } = sendFromDevice({ platform, number, customer }, text)
    return reply.code(201).send({ id, status, at, customerId: customer.id })
  })
  const reads = { tags, summary: 'Mark a chat as read by the owner', params, body: opened }
  app.post(`${one}/read`, { schema: reads }, ({ params: { numberId }, body: { customerId } }) => {
    const number = phoneOf(platform, numberId)
    const customer = platform.world.customers.get(customerId)
    if (customer === undefined || customer.numberId !== numberId) throw notFound('Chat not found')
    const newest = customer.messages.findLast(({ from }) => from === 'customer')
    if (newest !== undefined) markRead(platform, customer, newest)
    return presentPhone(platform, number)
  })
}

function networkRoutes(app: App, platform: Platform): void {
  const drops = { tags, summary: 'Close the sockets of the linked devices', params, body: drop }
  app.post(`${one}/drop`, { schema: drops }, ({ params: { numberId }, body: { code, again = 0 } }) => {
    const number = phoneOf(platform, numberId)
    closeDeviceSockets(platform, number, code, again)
    return presentPhone(platform, number)
  })
  const tells = { tags, summary: 'Send any event to the linked devices', params, body: rawEvent }
  app.post(`${one}/events`, { schema: tells }, ({ params: { numberId }, body: { event, data } }) => {
    const devices = devicesOf(platform.linked, phoneOf(platform, numberId).numberId)
    queueForDevices(platform, devices, event, data)
    return { told: devices.length }
  })
}

function phoneOf({ world }: Platform, numberId: string): BusinessNumber {
  const number = world.numbers.get(numberId)
  if (number?.network !== 'linked') throw notFound('Phone not found. Add one with POST /simulator/numbers')
  return number
}

/** Returns the owner's phone: chats, linked devices, and devices that wait to be linked. */
function presentPhone(platform: Platform, number: BusinessNumber) {
  const { numberId, name, phone } = number
  const customers = [...platform.world.customers.values()].filter((customer) => customer.numberId === numberId)
  return {
    numberId,
    name,
    phone,
    devices: devicesOf(platform.linked, numberId).map(({ id, linkedAt, socket, queue }) => ({
      id,
      linkedAt,
      isOnline: socket !== null,
      unacknowledged: queue.length,
    })),
    waiting: waitingSockets(platform).map(({ id, pairing }) => ({
      id: id.slice(0, 8),
      qr: pairing?.qr ?? null,
      expiresAt: pairing?.expiresAt ?? null,
      wantsCode: pairing !== null && isFor(number, pairing),
    })),
    chats: customers.map((customer) => presentChatLine(platform, customer)).sort(byNewest),
  }
}

function presentChatLine(platform: Platform, customer: Customer) {
  const unread = customer.messages.filter(
    ({ from, status }) => from === 'customer' && (status === 'sent' || status === 'delivered'),
  )
  return { ...presentCustomer(platform, customer), unread: unread.length }
}

const byNewest = (a: { lastAt: Date | null }, b: { lastAt: Date | null }): number =>
  (b.lastAt?.getTime() ?? 0) - (a.lastAt?.getTime() ?? 0)
