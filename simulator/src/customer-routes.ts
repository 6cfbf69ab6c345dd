import { notFound, unprocessable } from '../../server/src/base/errors.ts'
import type { App } from '../../server/src/base/route.ts'
import { numberFor } from './control-routes.ts'
import * as schema from './control-schema.ts'
import {
  announcePreference,
  callBusiness,
  changeNumber,
  sendFromCustomer,
  sendFromDevice,
  setOnline,
} from './customer-actions.ts'
import type { StoredFile } from './files/file-store.ts'
import type { Utterance } from './inbound.ts'
import { sendMapping, sendName } from './linked/notify.ts'
import { markChatRead } from './message-statuses.ts'
import { changeAnswerer, sendFromOtherApp } from './other-apps.ts'
import type { Chat, Platform } from './platform.ts'
import {
  addCustomer,
  type ChatMessage,
  type Customer,
  findByPhone,
  type MessageStatus,
  messageIn,
  windowIsOpen,
} from './world.ts'

const tags = ['Customers']
const params = schema.customerParams
const one = '/simulator/customers/:customerId'

/** Registers the routes for actions of customers on their phones. */
export function customerRoutes(app: App, platform: Platform): void {
  const { world } = platform
  app.get('/simulator/customers', { schema: { tags, summary: 'List customers, newest chat first' } }, () => ({
    customers: [...world.customers.values()].map((customer) => presentCustomer(platform, customer)).sort(byNewest),
  }))
  const add = { tags, summary: 'Add a customer with a phone', body: schema.customerCreate }
  app.post('/simulator/customers', { schema: add }, ({ body }, reply) => {
    const { numberId } = numberFor(platform, body.numberId)
    const known = findByPhone(world, numberId, body.phone)
    if (known !== undefined) throw unprocessable('A customer with this phone already exists', { id: known.id })
    const customer = addCustomer(world, { ...body, numberId })
    platform.changed()
    return reply.code(201).send(presentChat(platform, customer))
  })
  const read = { tags, summary: 'Read a customer and their chat, oldest message first', params }
  app.get(one, { schema: read }, (request) =>
    presentChat(platform, chatOf(platform, request.params.customerId).customer),
  )
  const change = { tags, summary: 'Change a customer or their phone', params, body: schema.customerChange }
  app.patch(one, { schema: change }, (request) => {
    const chat = chatOf(platform, request.params.customerId)
    const { number, customer } = chat
    const { phone, online, answeredBy, ...fields } = request.body
    const { name, hidesNumber, stopsMarketing } = customer
    Object.assign(customer, fields)
    if (number.network === 'linked') {
      if (hidesNumber && !customer.hidesNumber) sendMapping(chat)
      if (name !== customer.name) sendName(chat)
    }
    if (stopsMarketing !== customer.stopsMarketing) announcePreference(chat)
    if (phone !== undefined && phone !== customer.waId) changeNumber(chat, phone)
    if (answeredBy !== undefined) changeAnswerer(chat, answeredBy)
    if (online !== undefined) setOnline(chat, online)
    if (customer.readsAtOnce) markChatRead(chat)
    platform.changed()
    return presentChat(platform, customer)
  })
  app.delete(one, { schema: { tags, summary: 'Remove a customer', params } }, (request) => {
    world.customers.delete(chatOf(platform, request.params.customerId).customer.id)
    platform.changed()
    return { removed: true }
  })
  actionRoutes(app, platform)
  otherAppRoutes(app, platform)
}

function actionRoutes(app: App, platform: Platform): void {
  const writes = { tags, summary: 'Send a message as the customer', params, body: schema.utterance }
  app.post(`${one}/messages`, { schema: writes }, (request, reply) => {
    const chat = chatOf(platform, request.params.customerId)
    const { kind = 'text', text = '', about = null, ad = null, fileId, place, card, choiceId } = request.body
    if (choiceId !== undefined) {
      const { id, status, at } = sendFromCustomer(chat, choiceUtterance(chat.customer, about, choiceId))
      return reply.code(201).send({ id, status, at })
    }
    if (kind === 'text' && text.trim() === '') throw unprocessable('Message text is required')
    const file = fileId === undefined ? undefined : fileOf(chat, fileId)
    const { id, status, at } = sendFromCustomer(chat, { kind, text, about, file, place, card }, { ad })
    return reply.code(201).send({ id, status, at })
  })
  app.post(`${one}/read`, { schema: { tags, summary: 'Mark the chat as read by the customer', params } }, (request) => {
    const chat = chatOf(platform, request.params.customerId)
    markChatRead(chat)
    return presentChat(platform, chat.customer)
  })
  app.post(`${one}/call`, { schema: { tags, summary: 'Call as the customer', params } }, (request) => {
    const chat = chatOf(platform, request.params.customerId)
    callBusiness(chat)
    return presentChat(platform, chat.customer)
  })
  const echoes = { tags, summary: "Send a message from the business's own phone", params, body: schema.echo }
  app.post(`${one}/echo`, { schema: echoes }, (request, reply) => {
    const chat = chatOf(platform, request.params.customerId)
    const { text = '', kind = 'document', fileId } = request.body
    if (text.trim() === '' && fileId === undefined) throw unprocessable('Message text is required')
    const carried = fileId === undefined ? null : { kind, file: fileOf(chat, fileId) }
    const { id, status, at } = sendFromDevice(chat, text, carried)
    return reply.code(201).send({ id, status, at })
  })
}

function otherAppRoutes(app: App, platform: Platform): void {
  const answers = {
    tags,
    summary: 'Answer as the other app that has the conversation',
    params,
    body: schema.otherAppMessage,
  }
  app.post(`${one}/other-app`, { schema: answers }, (request, reply) => {
    const chat = chatOf(platform, request.params.customerId)
    if (chat.customer.answeredBy === 'business')
      throw unprocessable('No other app has this conversation: set answeredBy')
    const { id, status, at } = sendFromOtherApp(chat, request.body.text)
    return reply.code(201).send({ id, status, at })
  })
}

/** Returns the utterance of a pressed button or a chosen list row. */
function choiceUtterance(customer: Customer, about: string | null, choiceId: string): Utterance {
  const offer = messageIn(customer, about)?.offer
  const choice = offer?.options.find(({ id }) => id === choiceId)
  if (offer == null || choice === undefined) throw unprocessable('The message has no such option')
  return { kind: offer.button === null ? 'button_reply' : 'list_reply', text: choice.title, about, choice }
}

function fileOf({ platform, number }: Chat, fileId: string): StoredFile {
  const file = platform.files.find(fileId)
  if (file?.numberId !== number.numberId)
    throw unprocessable('File not found for this number. Upload one with POST /simulator/files')
  return file
}

function chatOf(platform: Platform, id: string): Chat {
  const customer = platform.world.customers.get(id)
  if (customer === undefined) throw notFound('Customer not found')
  return { platform, number: numberFor(platform, customer.numberId), customer }
}

const byNewest = (a: { lastAt: Date | null }, b: { lastAt: Date | null }): number =>
  (b.lastAt?.getTime() ?? 0) - (a.lastAt?.getTime() ?? 0)

// Failed and pending messages never reached the phone.
const hasArrived = ({ from, status }: ChatMessage): boolean => from === 'customer' || arrived.includes(status)
const arrived: readonly MessageStatus[] = ['sent', 'delivered', 'read']
const isShown = ({ kind }: { kind: string }): boolean => kind !== 'quiet'

/** Returns a customer as an entry of a list. */
export function presentCustomer({ world, clock }: Platform, customer: Customer) {
  const {
    id,
    name,
    username,
    waId: phone,
    userId,
    hidesNumber,
    online,
    readsAtOnce,
    stopsMarketing,
    isSaturated,
    answeredBy,
    numberId,
  } = customer
  const number = world.numbers.get(numberId)
  const last = customer.messages.findLast((message) => isShown(message) && hasArrived(message))
  const unread = customer.messages.filter(
    ({ from, status, kind }) =>
      from === 'business' && kind !== 'quiet' && (status === 'sent' || status === 'delivered'),
  )
  return {
    id,
    numberId,
    business: number?.name ?? '',
    network: number?.network ?? 'official',
    name,
    username,
    phone,
    userId,
    hidesNumber,
    online,
    readsAtOnce,
    stopsMarketing,
    isSaturated,
    answeredBy,
    unread: unread.length,
    businessIsTyping: customer.typing !== null && customer.typing.until > clock.now() && customer.online,
    windowIsOpen: number !== undefined && windowIsOpen(number, customer, clock.now()),
    lastAt: last?.at ?? null,
    lastText: last?.isWithdrawn === true ? 'Deleted' : (last?.text ?? ''),
    lastFrom: last?.from ?? null,
  }
}

/**
 * Returns a customer with the messages on their phone. While offline, nothing new has arrived. `isOldImport` says that
 * the customer may have had messages in an earlier run of the simulator.
 */
function presentChat(platform: Platform, customer: Customer) {
  const messages = customer.messages.filter(isShown)
  const isForgotten =
    messages.length === 0 && platform.world.numbers.get(customer.numberId)?.trustsUnknownWindows === true
  return { ...presentCustomer(platform, customer), isForgotten, messages }
}
