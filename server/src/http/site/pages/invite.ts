import { type Html, html } from '../../../base/text/html.ts'
import { fieldOfForm, type Problem, page, problemLine } from './layout.ts'
import { newPasswordField } from './sign-in.ts'
import type { Words } from './words.ts'

export interface InviteView {
  token: string
  workspaceName: string
  email: string
  role: string
}

export function newcomerPage(words: Words, view: InviteView, name: string, problem: Problem): Html {
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

export function colleaguePage(words: Words, view: InviteView, name: string, csrfToken: string, problem: Problem): Html {
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
