import { isIP } from 'node:net'
import swagger from '@fastify/swagger'
import fastify, { type FastifyRequest } from 'fastify'
import type { ShiftedClock } from '../../server/src/base/clock.ts'
import { ApiError, forbidden } from '../../server/src/base/errors.ts'
import type { Log } from '../../server/src/base/log.ts'
import type { App } from '../../server/src/base/route.ts'
import { compileForRequest, invalidInput } from '../../server/src/base/validation.ts'
import { createJournal, createScheduler, WebhookSender } from './callbacks/webhook-sender.ts'
import { controlRoutes, templateRoutes } from './control-routes.ts'
import { customerRoutes } from './customer-routes.ts'
import { fileRoutes } from './file-routes.ts'
import { createFileStore } from './files/file-store.ts'
import { graphRoutes } from './graph/graph-routes.ts'
import { parseForms } from './graph/media-routes.ts'
import { partnerRoutes } from './graph/partner-routes.ts'
import { openIdentityProvider } from './identity-provider.ts'
import { leadAdRoutes } from './lead-ads.ts'
import { createNetwork, type PairingTimes, stopNetwork } from './linked/network.ts'
import { ownerRoutes } from './linked/owner-routes.ts'
import { socketRoutes } from './linked/socket-routes.ts'
import { type Mailbox, mailboxRoutes, openMailbox } from './mailbox.ts'
import { createLiveUpdates, phoneRoutes } from './phone-routes.ts'
import type { Platform, StatusTimes } from './platform.ts'
import { siteRoutes } from './site-routes.ts'
import { type BusinessNumber, createWorld, newNumber, newPhone } from './world.ts'

export interface SimulatorOptions {
  /** 0 picks a free port. */
  port: number
  host?: string
  /** Host names under which people open it, besides localhost and IP addresses. */
  ownHosts?: readonly string[]
  clock: ShiftedClock
  log: Log
  /** First business number; missing ids and secrets are generated. */
  number?: Partial<BusinessNumber>
  ladder?: Partial<StatusTimes>
  /** Phone that devices are linked to. */
  phone?: Partial<BusinessNumber>
  pairingTimes?: Partial<PairingTimes>
  /** Ports of a simulated mail server and of an identity provider for the service; null or missing: none. */
  mailPort?: number | null
  ssoPort?: number | null
  /** Milliseconds before each retry of a webhook. */
  retryMs?: readonly number[]
  /** The service whose chat widget the demo site shows. */
  serviceUrl?: string
}

export interface Simulator {
  /** Base URL for a connection, without trailing slash, such as `http://127.0.0.1:7008`. */
  url: string
  app: App
  platform: Platform
  /** First business number. Its `callbackUrl` may be set at any time. */
  number: BusinessNumber
  /** The business's own phone, to which devices are linked by QR code. */
  phone: BusinessNumber
  /** Resolves when no webhook, status, or event for a connected device is pending. */
  settled(): Promise<void>
  stop(): Promise<void>
}

const defaultStatusTimes: StatusTimes = { sentMs: 250, deliveredMs: 600, readMs: 1500 }
const demoPhone = { phone: '15550783882', name: 'Parley Demo, phone' }
const compressedRetryMs = [0, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000]
const settleCheckMs = 3

/** Starts a simulator of the official platform, with phones for its customers. All state is in memory. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { clock, log, host = '127.0.0.1' } = options
  const live = createLiveUpdates()
  const onError = (error: unknown) => log.error('simulator failed', {}, error)
  const scheduler = createScheduler(clock, onError)
  const journal = createJournal()
  const webhookSender = new WebhookSender({
    clock,
    log,
    scheduler,
    journal,
    retryMs: options.retryMs ?? compressedRetryMs,
  })
  const ladder = { ...defaultStatusTimes, ...options.ladder }
  const world = createWorld()
  const linked = createNetwork(clock, options.pairingTimes ?? {}, onError)
  const { changed } = live
  const files = createFileStore(clock)
  const platform: Platform = {
    clock,
    log,
    world,
    linked,
    files,
    scheduler,
    webhookSender,
    journal,
    faults: [],
    ladder,
    adLeads: new Map(),
    changed,
  }
  const number = newNumber(options.number ?? {})
  const phone = newPhone({ ...demoPhone, ...options.phone })
  for (const one of [number, phone]) world.numbers.set(one.numberId, one)

  const { mailPort = null, ssoPort = null, serviceUrl = null } = options
  const mailbox = mailPort === null ? null : await openMailbox(mailPort, clock, changed)
  const identities = ssoPort === null || serviceUrl === null ? null : await openIdentityProvider(ssoPort, serviceUrl)
  const app = await buildServer(platform, options.ownHosts ?? [], mailbox, serviceUrl)
  live.serve(app)
  const stop = async () => {
    scheduler.stop()
    stopNetwork(linked)
    live.stop()
    app.server.closeAllConnections()
    await Promise.all([webhookSender.stop(), app.close(), mailbox?.close(), identities?.close()])
    files.stop()
  }
  try {
    await app.listen({ port: options.port, host })
  } catch (error) {
    await stop()
    throw error
  }
  return { url: addressOf(app, host), app, platform, number, phone, settled: () => settled(platform), stop }
}

async function buildServer(
  platform: Platform,
  ownHosts: readonly string[],
  mailbox: Mailbox | null,
  serviceUrl: string | null,
): Promise<App> {
  const app: App = fastify({ logger: false, bodyLimit: 1024 * 1024, forceCloseConnections: true })
  app.setValidatorCompiler(({ schema, httpPart }) => compileForRequest(schema, httpPart))
  app.setSerializerCompiler(() => JSON.stringify)
  app.setSchemaErrorFormatter((errors, part) => invalidInput(errors as never, part as never))
  app.setErrorHandler((error, _request, reply) => {
    const { statusCode = 500, message } = error as { statusCode?: number; message: string }
    if (statusCode >= 500) platform.log.error('simulator failed', {}, error)
    const data = error instanceof ApiError && error.data !== undefined ? { data: error.data } : {}
    return reply
      .code(statusCode)
      .send({ statusCode, statusMessage: statusCode >= 500 ? 'Internal error' : message, ...data })
  })
  app.setNotFoundHandler((_request, reply) =>
    reply
      .code(404)
      .send({ statusCode: 404, statusMessage: 'Not found. The phones are at /phone, the controls at /simulator' }),
  )
  // Only JSON: browsers send simple content types across sites without a preflight, so any page could change settings.
  app.removeContentTypeParser('text/plain')
  // Files; this type also requires a preflight.
  app.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload))
  rejectCrossSiteRequests(app, ownHosts)
  await app.register(swagger, { openapi: { openapi: '3.1.0', info: about } })
  for (const routes of [graphRoutes, partnerRoutes]) {
    await app.register(async (scope) => {
      await parseForms(scope as App)
      routes(scope as App, platform)
    })
  }
  controlRoutes(app, platform)
  templateRoutes(app, platform)
  customerRoutes(app, platform)
  leadAdRoutes(app, platform)
  fileRoutes(app, platform)
  socketRoutes(app, platform)
  ownerRoutes(app, platform)
  mailboxRoutes(app, mailbox)
  phoneRoutes(app)
  siteRoutes(app, serviceUrl)
  app.get('/simulator', { schema: { hide: true } }, () => app.swagger())
  return app
}

const about = {
  title: 'Parley simulator',
  version: '1',
  description:
    'Simulates the official chat platform, for demos and tests. The API of the platform is at /v25.0/… as documented, ' +
    'the API of one of its partners at /messages and /v1/configs/…, and a network of phones with linked devices at ' +
    '/linked. This document describes the control API: customers and their actions, faults, webhook delivery, ' +
    'templates, the phone with linked devices, and the clock.',
}

function addressOf(app: App, host: string): string {
  const address = app.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const own = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host]
  const name = own ?? host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

async function settled({ scheduler, webhookSender, linked }: Platform): Promise<void> {
  const isTelling = () => [...linked.devices.values()].some(({ socket, queue }) => socket !== null && queue.length > 0)
  while (scheduler.size() > 0 || webhookSender.pending() > 0 || isTelling()) {
    await new Promise((resolve) => setTimeout(resolve, settleCheckMs))
  }
}

/**
 * The simulator has no passwords; only its address protects it. Pages of other sites must not reach it through a user's
 * browser, neither by cross-site requests nor by DNS rebinding.
 */
function rejectCrossSiteRequests(app: App, ownHosts: readonly string[]): void {
  app.addHook('onRequest', async (request) => {
    if (!isOwnHost(request.hostname, ownHosts)) throw forbidden('Open the simulator by its address or by localhost')
    if (isCrossSite(request)) throw forbidden('The simulator rejects requests from pages of other sites')
  })
}

function isOwnHost(name: string, ownHosts: readonly string[]): boolean {
  const bare = name.replace(/^\[|\]$/g, '')
  return bare === 'localhost' || bare.endsWith('.localhost') || isIP(bare) !== 0 || ownHosts.includes(bare)
}

function isCrossSite({ headers }: FastifyRequest): boolean {
  if (headers['sec-fetch-site'] === 'cross-site') return headers['sec-fetch-mode'] !== 'navigate'
  const { origin } = headers
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== headers.host)
}
