import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../../server/src/base/route.ts'
import type { Platform } from '../platform.ts'
import { describeToken, grantedTo } from '../setup.ts'
import { type BusinessNumber, type Customer, newestMessages } from '../world.ts'
import { accountsOf, bearerOf, numberOf, type ObjectRequest, root, tokenOf } from './authorize.ts'
import { answerOr } from './fault-answer.ts'
import { GraphError, invalidParameter, isObject } from './graph-error.ts'

const version = '/:version(^v\\d{1,2}\\.\\d$)'
const schema = { hide: true }

/** Registers the calls with which a number is connected: about the token, registering, contacts and history. */
export function setupRoutes(app: App, platform: Platform): void {
  app.get(`${version}/debug_token`, { schema }, (request: ObjectRequest, reply) =>
    answerOr(platform, reply, 'setup', () => {
      const bearer = bearerOf(platform, tokenOf(request))
      const asked = request.query.input_token
      if (asked !== bearer.accessToken) throw invalidParameter('The input_token belongs to another app.')
      return describeToken(bearer, accountsOf(platform, bearer), platform.clock.now())
    }),
  )
  app.get(`${version}/me`, { schema }, (request: ObjectRequest, reply) =>
    answerOr(platform, reply, 'setup', () => {
      bearerOf(platform, tokenOf(request))
      return { id: '3009' }
    }),
  )
  app.get(`${version}/me/permissions`, { schema }, (request: ObjectRequest, reply) =>
    answerOr(platform, reply, 'setup', () => ({
      data: grantedTo(bearerOf(platform, tokenOf(request))).map((permission) => ({ permission, status: 'granted' })),
    })),
  )
  registrationRoutes(app, platform)
  app.post(`${root}/smb_app_data`, { schema }, (request: ObjectRequest, reply) =>
    answerOr(platform, reply, 'setup', () => requestHistory(platform, numberOf(platform, request), request)),
  )
}

function registrationRoutes(app: App, platform: Platform): void {
  const answer = (request: FastifyRequest, reply: FastifyReply, change: (number: BusinessNumber) => void) =>
    answerOr(platform, reply, 'setup', () => {
      change(numberOf(platform, request as ObjectRequest))
      platform.changed()
      return { success: true }
    })
  app.post(`${root}/register`, { schema }, (request: ObjectRequest, reply) =>
    answer(request, reply, (number) => register(number, request.body)),
  )
  app.post(`${root}/deregister`, { schema }, (request: ObjectRequest, reply) =>
    answer(request, reply, (number) => {
      if (number.isOnPhone) throw invalidParameter('The number is used with the app on a phone.')
      number.registered = false
    }),
  )
}

const maxWrongPins = 5

function register(number: BusinessNumber, body: unknown): void {
  const { messaging_product: product, pin } = isObject(body) ? body : {}
  if (product !== 'whatsapp') throw invalidParameter('The parameter messaging_product is required.')
  if (typeof pin !== 'string' || !/^\d{6}$/.test(pin))
    throw new GraphError(131009, { details: 'pin must have 6 digits' })
  if (!number.verified) throw new GraphError(133006)
  if (number.wrongPins >= maxWrongPins) throw new GraphError(133009)
  if (number.pin !== '' && number.pin !== pin) {
    number.wrongPins += 1
    throw new GraphError(133005)
  }
  Object.assign(number, { pin, wrongPins: 0, registered: true })
}

const syncTypes = ['smb_app_state_sync', 'history'] as const
const windowMs = 24 * 3_600_000

function requestHistory(platform: Platform, number: BusinessNumber, { body }: ObjectRequest): object {
  const type = syncTypes.find((one) => isObject(body) && body.sync_type === one)
  if (type === undefined) throw invalidParameter('The parameter sync_type is not valid.')
  if (!number.isOnPhone) throw new GraphError(10)
  const startedAt = number.onboardedAt === null ? null : Date.parse(number.onboardedAt)
  if (startedAt !== null && platform.clock.now().getTime() >= startedAt + windowMs) throw new GraphError(2593108)
  if (number.historyRequests.includes(type)) throw new GraphError(2593107)
  number.historyRequests.push(type)
  const customers = [...platform.world.customers.values()].filter(({ numberId }) => numberId === number.numberId)
  sendHistory(platform, number, type, customers)
  return { messaging_product: 'whatsapp', request_id: `sync-${number.historyRequests.length}` }
}

function sendHistory(
  { webhookSender, clock }: Platform,
  number: BusinessNumber,
  type: (typeof syncTypes)[number],
  customers: readonly Customer[],
): void {
  const metadata = { display_phone_number: number.phone, phone_number_id: number.numberId }
  const envelope = { messaging_product: 'whatsapp', metadata }
  const timestamp = String(Math.floor(clock.now().getTime() / 1000))
  if (type === 'smb_app_state_sync') {
    const contacts = customers.map(({ name, waId }) => ({
      type: 'contact',
      contact: { full_name: name, first_name: name.split(' ')[0], phone_number: waId },
      action: 'add',
      metadata: { timestamp },
    }))
    if (contacts.length > 0) webhookSender.send(number, { field: type, value: { ...envelope, state_sync: contacts } })
    return
  }
  const threads = customers.map((customer) => ({ id: customer.waId, messages: threadOf(number, customer) }))
  const history = [{ metadata: { phase: 2, chunk_order: 1, progress: 100 }, threads }]
  webhookSender.send(number, { field: type, value: { ...envelope, history } })
}

const threadOf = (number: BusinessNumber, customer: Customer): object[] =>
  newestMessages(customer).map(({ id, from, text, at }) => ({
    from: from === 'customer' ? customer.waId : number.phone,
    ...(from === 'customer' ? {} : { to: customer.waId }),
    id,
    timestamp: String(Math.floor(at.getTime() / 1000)),
    type: 'text',
    text: { body: text },
    history_context: { status: 'READ' },
  }))
