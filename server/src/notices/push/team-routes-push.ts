import { Type } from 'typebox'
import webPush from 'web-push'
import { forbidden, invalid, notFound } from '../../base/errors.ts'
import { type App, errors } from '../../base/route.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { done, idSchema, workspaceParams } from '../../team/team-schema.ts'
import { NewSubscription } from '../schema.ts'
import { type NoticeDeps, noticeParams, noticeRoute, noticesPath, personOf } from '../team-request.ts'
import { addSubscription, type PushTarget, removeSubscription } from './subscriptions.ts'

const path = `${noticesPath}/push-subscriptions`

/** The browsers of a member that are told while no page is open. */
export function servePush(app: App, deps: NoticeDeps, guard: TeamGuard): void {
  serveSubscribing(app, deps, guard)
  serveUnsubscribing(app, deps, guard)
}

function serveSubscribing(app: App, { db, vault, clock, outgoing }: NoticeDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: path,
    onRequest: guard.member('member'),
    schema: {
      ...noticeRoute,
      operationId: 'addPushSubscription',
      summary: 'Have this browser told',
      description:
        'What `PushManager.subscribe` gives, with `pushKey` of the settings. The same browser again replaces what is known of it. Of more than 10 the oldest goes. It ends with the session, and when its push service says that it is gone.',
      params: noticeParams,
      body: NewSubscription,
      response: {
        201: Type.Object({ id: idSchema('The subscription.') }),
        ...errors(400, 401, 403, 404, 413, 415),
      },
    },
    handler: async (request, reply) => {
      const member = memberOf(request)
      const { workspaceId, sessionId } = member
      const userId = personOf(member)
      if (sessionId === null) throw forbidden('Only a browser that signed in can be told.')
      const { language, ...target } = request.body
      const refusal = outgoing.refusal(target.endpoint)
      if (refusal !== null) throw invalid('endpoint', refusal)
      if (!canSealFor(target)) throw invalid('p256dh', 'is no key of a browser: send those of its subscription')
      const id = await vault.withKeyring(workspaceId, (keyring) =>
        db.tx((tx) =>
          addSubscription(tx, keyring, workspaceId, { userId, sessionId }, { target, language }, clock.now()),
        ),
      )
      return reply.code(201).send({ id })
    },
  })
}

/** A point that is not on the curve would fail at each push. */
function canSealFor({ p256dh, auth }: PushTarget): boolean {
  try {
    webPush.encrypt(p256dh, auth, '{}', 'aes128gcm')
    return true
  } catch {
    return false
  }
}

function serveUnsubscribing(app: App, { db }: NoticeDeps, guard: TeamGuard): void {
  app.route({
    method: 'DELETE',
    url: `${path}/:id`,
    onRequest: guard.member('member'),
    schema: {
      ...noticeRoute,
      operationId: 'removePushSubscription',
      summary: 'Have a browser told no more',
      description: 'One of my own; 404 for all others, and for one that has ended by itself.',
      params: Type.Object({ ...workspaceParams, id: idSchema('The subscription.') }),
      response: { 200: done, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const isRemoved = await db.tx((tx) =>
        removeSubscription(tx, member.workspaceId, personOf(member), request.params.id),
      )
      if (!isRemoved) throw notFound('This browser is not told. Nothing is to be done.')
      return { success: true }
    },
  })
}
