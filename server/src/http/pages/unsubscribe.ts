import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { TeamDeps } from '../../auth/users/users.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { App } from '../../base/route.ts'
import { html } from '../../base/text/html.ts'
import { preferencesUrl } from '../../notifications/mail/notification-mail.ts'
import {
  type MailSubscription,
  readUnsubscribeToken,
  unsubscribe,
  unsubscribePath,
} from '../../notifications/mail/unsubscribe.ts'
import { page, sendPage, textsFor } from './page.ts'

type Deps = Pick<TeamDeps, 'db' | 'keyStore' | 'publicUrl'>

/** A POST of a mail program says nothing that we need. */
const maxBodyBytes = 4096
const query = Type.Object({ token: Type.Optional(Type.String({ maxLength: 2000 })) })

/**
 * Serves the links in mails that stop further ones. Opening a link asks, since scanners of mail open links; the POST does
 * it, of the button or of the mail program (RFC 8058), without a session.
 */
export async function unsubscribeRoutes(app: App, deps: Deps): Promise<void> {
  await app.register(async (site: App) => {
    site.removeAllContentTypeParsers()
    site.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: maxBodyBytes }, (_request, _body, done) =>
      done(null),
    )
    const schema = { hide: true, querystring: query }
    site.get(unsubscribePath, { schema }, async (request, reply) => {
      const subscription = await readSubscription(deps, request.query.token)
      return subscription === null ? sendInvalid(request, reply) : sendQuestion(request, reply, subscription)
    })
    site.post(unsubscribePath, { schema }, async (request, reply) => {
      const subscription = await readSubscription(deps, request.query.token)
      if (subscription === null) return sendInvalid(request, reply)
      await deps.db.tx((tx) => unsubscribe(tx, subscription))
      return sendDone(request, reply, subscription, deps.publicUrl)
    })
  })
}

const readSubscription = ({ keyStore }: Deps, token = ''): Promise<MailSubscription | null> =>
  keyStore.withKeyring(instanceScope, async (instanceKeys) => readUnsubscribeToken(instanceKeys, token))

function sendQuestion({ headers }: FastifyRequest, reply: FastifyReply, { kind }: MailSubscription): FastifyReply {
  const words = textsFor(headers)
  const { title, ask, button } = words.unsubscribe
  const shown = page(
    { title, words },
    html`<form class="card" method="post"><h1>${title}</h1>
<p>${ask[kind]}</p>
<button>${button}</button></form>`,
  )
  return sendPage(reply, shown, 200, "'self'")
}

function sendDone(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { kind, workspaceId }: MailSubscription,
  publicUrl: string,
): FastifyReply {
  const words = textsFor(headers)
  const { done, doneOf, preferences } = words.unsubscribe
  const shown = page(
    { title: done, words },
    html`<div class="card" role="status"><h1>${done}</h1>
<p>${doneOf[kind]}</p>
<p><a href="${preferencesUrl(publicUrl, workspaceId)}">${preferences}</a></p></div>`,
  )
  return sendPage(reply, shown)
}

function sendInvalid({ headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const words = textsFor(headers)
  const { invalid, invalidHelp } = words.unsubscribe
  return sendPage(
    reply,
    page(
      { title: invalid, words },
      html`<div class="card"><h1>${invalid}</h1><p class="quiet">${invalidHelp}</p></div>`,
    ),
    404,
  )
}
