import type { FastifyRequest } from 'fastify'
import type { ClientAddress } from '../../auth/api-keys/authenticate.ts'
import type { Limiter } from '../../auth/rate-limit/limiter.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { forbidden, unauthorized } from '../../base/errors.ts'
import type { OpeningHours } from '../../team/opening-hours.ts'
import type { StoredWebsite } from '../connection/connection.ts'
import type { FileToUpload, OpenStoredFile } from '../media-transport.ts'
import { type CallbackDeps, findCalledConnections } from '../store-callback.ts'
import type { CountRequest, LimitedRequest } from './limits.ts'
import type { VisitorLead } from './receive-chat.ts'
import { findVisitorSession, isRenewalDue, renewSession, type Visitor, type VisitorSession } from './visitors.ts'

export const visitorPath = '/widget/v1/:connectionId'

export interface VisitorDeps extends CallbackDeps {
  limiter: Limiter
  clientAddress: ClientAddress
  /** URL at which pages load the widget, without a trailing slash. */
  publicUrl: string
  /** Opens files that the team sends. */
  openFile: OpenStoredFile
  /** Opens the file of a visitor's message that the inbox has fetched; null if it is gone. */
  openReceived(connection: StoredWebsite, externalId: string): Promise<FileToUpload | null>
  /** Returns the hours of the team that gets the connection's conversations, or of the workspace. */
  readHours(workspaceId: string, connectionId: string): Promise<OpeningHours | null>
  /** Makes a lead of a visitor who wrote on a page of the site, if the workspace wants that; never throws. */
  createLead(workspaceId: string, visitor: VisitorLead, pageUrl: string | null): Promise<void>
}

/** What the handlers of the routes share. */
export interface VisitorContext {
  deps: VisitorDeps
  /** Returns the connection of the path. Throws 404 without one, and 403 for pages of other origins. */
  find(request: FastifyRequest): Promise<{ connection: StoredWebsite; keyring: Keyring }>
  /** Returns the visitor of the token too, and counts the request. Throws 401 for any other token, and 429. */
  authenticate(request: FastifyRequest, what: LimitedRequest): Promise<Authenticated>
}

export interface Authenticated {
  connection: StoredWebsite
  keyring: Keyring
  session: VisitorSession
  visitor: Visitor
}

export function createContext(deps: VisitorDeps, countRequest: CountRequest): VisitorContext {
  const find: VisitorContext['find'] = async (request) => {
    requireOwnPage(request, deps.publicUrl)
    const { called } = await findCalledConnections(deps, request, 'website', 'all')
    return { connection: called, keyring: await deps.keyStore.keyring(called.workspaceId) }
  }
  return {
    deps,
    find,
    authenticate: async (request, what) => {
      const token = tokenOf(request)
      if (token === null) throw signedOut()
      const { connection, keyring } = await find(request)
      const now = deps.clock.now()
      const found = await findVisitorSession(deps.db.sql, keyring, connection, token, now)
      // Guesses count by address alone, so that they use up nothing of the visitors'.
      const visitorId = found?.visitor.id
      const counted = { request: request.raw, keyring, connection, ...(visitorId !== undefined && { visitorId }) }
      await countRequest(found === undefined ? 'reads' : what, counted)
      if (found === undefined) throw signedOut()
      const { expiresAt, ...session } = found
      if (isRenewalDue(expiresAt, now)) await deps.db.tx((tx) => renewSession(tx, session, now))
      return { connection, keyring, session, visitor: session.visitor }
    },
  }
}

export const signedOut = () => unauthorized('This chat has ended on this device. Start a new one.')

export function tokenOf({ headers }: FastifyRequest): string | null {
  return /^Bearer ([\w-]{43})$/.exec(headers.authorization?.slice(0, 60) ?? '')?.[1] ?? null
}

/** Other sites embed the page of the widget; their scripts cannot call its routes, and need not. */
function requireOwnPage({ headers: { origin, host } }: FastifyRequest, publicUrl: string): void {
  if (origin === undefined) return
  // The service may be reached under another name; no site can make a browser send our host.
  const isOwn =
    URL.canParse(origin) && (origin === new URL(publicUrl).origin || new URL(origin).host === host?.toLowerCase())
  if (!isOwn) throw forbidden('Only the chat widget may call this. Embed it by its script.')
}
