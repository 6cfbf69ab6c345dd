import { notFound, unprocessable } from '../../../server/src/base/errors.ts'
import type { App } from '../../../server/src/base/route.ts'
import { typeOnDevice } from '../business-acts.ts'
import type { Platform } from '../platform.ts'
import { markRead } from '../read.ts'
import type { BusinessNumber } from '../world.ts'
import { devicesOf } from './network.ts'
import { dropDevices, unlink } from './open.ts'
import * as schema from './owner-schema.ts'
import { enterCode, scan } from './pairing.ts'
import { presentPhone } from './present-phone.ts'
import { jidOf } from './shapes.ts'
import { customerAt } from './take.ts'
import { tellDevices } from './tell-devices.ts'

const tags = ['Linked devices']
const one = '/simulator/phones/:numberId'
const params = schema.phoneParams

/** What the owner of a phone does with it, and what its network does to the devices that are linked to it. */
export function ownerRoutes(app: App, platform: Platform): void {
  const { world } = platform
  app.get('/simulator/phones', { schema: { tags, summary: 'The phones that devices can be linked to' } }, () => ({
    phones: [...world.numbers.values()]
      .filter(({ network }) => network === 'linked')
      .map((number) => presentPhone(platform, number)),
  }))
  app.get(one, { schema: { tags, summary: 'A phone: chats, linked devices, codes that wait', params } }, (request) =>
    presentPhone(platform, phoneOf(platform, request.params.numberId)),
  )
  linkRoutes(app, platform)
  chatRoutes(app, platform)
  networkRoutes(app, platform)
}

function linkRoutes(app: App, platform: Platform): void {
  const scans = { tags, summary: 'Scan a QR code with the phone', params, body: schema.scanned }
  app.post(`${one}/scan`, { schema: scans }, (request) => {
    const number = phoneOf(platform, request.params.numberId)
    return { deviceId: scan(platform, number, request.body.qr).id }
  })
  const types = { tags, summary: 'Type the eight characters of a device on the phone', params, body: schema.typedCode }
  app.post(`${one}/code`, { schema: types }, (request) => {
    const number = phoneOf(platform, request.params.numberId)
    return { deviceId: enterCode(platform, number, request.body.code).id }
  })
  const unlinks = { tags, summary: 'Unlink a device', params: schema.deviceParams }
  app.delete(`${one}/devices/:deviceId`, { schema: unlinks }, ({ params: { numberId, deviceId } }) => {
    const number = phoneOf(platform, numberId)
    const device = platform.linked.devices.get(deviceId)
    if (device === undefined || device.numberId !== numberId) throw notFound('There is no such device')
    unlink(platform, device)
    return presentPhone(platform, number)
  })
}

// Answers to a chat that is there go by the customer's own echo route.
function chatRoutes(app: App, platform: Platform): void {
  const begins = { tags, summary: 'The owner writes to any number', params, body: schema.newChat }
  app.post(`${one}/messages`, { schema: begins }, ({ params: { numberId }, body: { phone, text } }, reply) => {
    const number = phoneOf(platform, numberId)
    const customer = customerAt(platform, number, jidOf(phone))
    if (customer === undefined) throw unprocessable('There is no such phone')
    const { id, status, at } = typeOnDevice(platform, number, customer, text)
    return reply.code(201).send({ id, status, at, customerId: customer.id })
  })
  const reads = { tags, summary: 'The owner reads a chat', params, body: schema.opened }
  app.post(`${one}/read`, { schema: reads }, ({ params: { numberId }, body: { customerId } }) => {
    const number = phoneOf(platform, numberId)
    const customer = platform.world.customers.get(customerId)
    if (customer === undefined || customer.numberId !== numberId) throw notFound('There is no such chat')
    const newest = customer.messages.findLast(({ from }) => from === 'customer')
    if (newest !== undefined) markRead(platform, customer, newest)
    return presentPhone(platform, number)
  })
}

function networkRoutes(app: App, platform: Platform): void {
  const drops = { tags, summary: 'Close the sockets of the linked devices', params, body: schema.drop }
  app.post(`${one}/drop`, { schema: drops }, ({ params: { numberId }, body: { code, again = 0 } }) => {
    const number = phoneOf(platform, numberId)
    dropDevices(platform, number, code, again)
    return presentPhone(platform, number)
  })
  const tells = { tags, summary: 'Tell the linked devices any event at all', params, body: schema.rawEvent }
  app.post(`${one}/events`, { schema: tells }, ({ params: { numberId }, body: { event, data } }) => {
    const devices = devicesOf(platform.linked, phoneOf(platform, numberId).numberId)
    tellDevices(platform, devices, event, data)
    return { told: devices.length }
  })
}

function phoneOf({ world }: Platform, numberId: string): BusinessNumber {
  const number = world.numbers.get(numberId)
  if (number?.network !== 'linked') throw notFound('There is no such phone. Add one by POST /simulator/numbers')
  return number
}
