import type { FastifyReply } from 'fastify'
import { acceptInvitation } from '../../access/people/accept-invitation.ts'
import { findInvitation, invitationOver, invitationVoid, openInvitation } from '../../access/people/invitations.ts'
import { refuseForeignOrigin, refuseForgery } from '../../access/sign-in/csrf.ts'
import { keepSession } from '../../access/sign-in/sign-in-routes.ts'
import { visitorOf } from '../../access/sign-in/visitor.ts'
import type { App } from '../../base/route.ts'
import { type Html, html } from '../../base/text/html.ts'
import { isBlank } from '../../base/text/outside-text.ts'
import { findWorkspace } from '../../workspace/workspace.ts'
import { fieldOf } from './form-body.ts'
import { fieldOfForm, type Problem, page, problemLine, sendPage } from './pages/layout.ts'
import { newPasswordField } from './pages/sign-in.ts'
import { type Words, wordsFor } from './pages/words.ts'
import { passwordProblem } from './site-password.ts'
import { checkFields, showProblem } from './site-problems.ts'
import { type SignedInVisit, type SiteDeps, signedInVisit } from './site-visit.ts'

type Link = { Params: { token: string } }

const maxNameLength = 100

/** Joining a workspace by an invitation's link. Opening it changes nothing. */
export function inviteRoutes(site: App, deps: SiteDeps): void {
  site.get<Link>('/invite/:token', { config: { repeatsToken: true } }, async (request, reply) => {
    const view = await readInvitation(deps, request.params.token)
    return showInvitation(reply, wordsFor(request.headers), view, await signedInVisit(deps, request))
  })
  site.post<Link>('/invite/:token', { config: { repeatsToken: true } }, async (request, reply) => {
    refuseForeignOrigin(request.headers, deps.publicUrl)
    const view = await readInvitation(deps, request.params.token)
    const visit = await signedInVisit(deps, request)
    if (visit !== null) {
      refuseForgery(request.headers, deps.publicUrl, visit.sessionToken, fieldOf(request.body, 'csrf'))
    }
    const name = fieldOf(request.body, 'name').trim()
    const words = wordsFor(request.headers)
    try {
      const userId = visit?.caller.userId ?? null
      const password = fieldOf(request.body, 'password')
      if (userId === null) {
        checkFields({ name: nameProblem(name, words), password: passwordProblem(password, words) })
      }
      const as = userId === null ? { name, password } : { userId }
      const { session } = await acceptInvitation(deps, visitorOf(deps, request), view.token, as)
      if (session !== null) keepSession(deps, reply, session)
      return reply.redirect('/', 303)
    } catch (error) {
      return showProblem(reply, words, error, (problem) =>
        visit === null
          ? newcomerPage(words, view, name, problem)
          : colleaguePage(words, view, visit.caller.name, visit.csrfToken, problem),
      )
    }
  })
}

async function readInvitation(deps: SiteDeps, token: string): Promise<InviteView> {
  const row = await findInvitation(deps.db.sql, token, deps.clock.now())
  if (row === undefined) throw invitationOver()
  if (!row.stands) throw invitationVoid()
  const workspace = await findWorkspace(deps.db.sql, row.workspace_id)
  const { email, role } = await deps.vault.withKeyring(row.workspace_id, (keyring) => openInvitation(keyring, row))
  return { token, workspaceName: workspace?.name ?? '', email, role }
}

function showInvitation(
  reply: FastifyReply,
  words: Words,
  view: InviteView,
  visit: SignedInVisit | null,
): FastifyReply {
  const shown =
    visit === null
      ? newcomerPage(words, view, '', {})
      : colleaguePage(words, view, visit.caller.name, visit.csrfToken, {})
  return sendPage(reply, shown)
}

/** A form has no schema, so its limits are checked here. */
const nameProblem = (name: string, { needs }: Words): string | null =>
  isBlank(name) || name.length > maxNameLength ? needs.name(maxNameLength) : null

interface InviteView {
  token: string
  workspaceName: string
  email: string
  role: string
}

function newcomerPage(words: Words, view: InviteView, name: string, problem: Problem): Html {
  return page(
    { title: words.joinTo(view.workspaceName), words },
    html`<div class="card">
<h1>${words.joinTo(view.workspaceName)}</h1>
<p class="quiet who">${words.invited(view.email, words.roles[view.role] ?? view.role)}</p>
${problemLine(problem)}
<form method="post" novalidate action="/invite/${view.token}">
<input type="hidden" name="username" value="${view.email}" autocomplete="username">
${fieldOfForm(
  {
    name: 'name',
    label: words.yourName,
    attributes: html` value="${name}" autocomplete="name" maxlength="100"`,
    help: words.yourNameHelp,
    isFirst: true,
  },
  problem,
)}
${newPasswordField(words, problem, false)}
<button>${words.join}</button>
</form>
</div>
<p class="quiet">${words.haveAccount} <a href="/sign-in?next=/invite/${view.token}">${words.signInFirst}</a>.</p>`,
  )
}

function colleaguePage(words: Words, view: InviteView, name: string, csrfToken: string, problem: Problem): Html {
  return page(
    { title: words.joinTo(view.workspaceName), words },
    html`<div class="card">
<h1>${words.joinTo(view.workspaceName)}</h1>
<p class="quiet who">${words.invitedAs(name, words.roles[view.role] ?? view.role)}</p>
${problemLine(problem)}
<form method="post" action="/invite/${view.token}">
<input type="hidden" name="csrf" value="${csrfToken}">
<button autofocus>${words.join}</button>
</form>
</div>`,
  )
}
