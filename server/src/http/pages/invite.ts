import { type Html, html } from '../../base/html.ts'
import { page, problemLine } from './layout.ts'

export interface InviteView {
  token: string
  workspaceName: string
  email: string
  role: string
}

export function newcomerPage(view: InviteView, name: string, problem: string | null): Html {
  return page(
    { title: `Join ${view.workspaceName}` },
    html`<div class="card">
<h1>Join ${view.workspaceName}</h1>
<p class="quiet who">${view.email} is invited as ${view.role}.</p>
${problemLine(problem)}
<form method="post" action="/invite/${view.token}">
<input type="hidden" name="username" value="${view.email}" autocomplete="username">
<label>Your name
<input name="name" value="${name}" autocomplete="name" required maxlength="100" autofocus>
<small>How your colleagues see you.</small></label>
<label>Password
<input type="password" name="password" autocomplete="new-password" required minlength="12" maxlength="256">
<small>At least 12 characters. A few plain words are easy to remember.</small></label>
<button>Join</button>
</form>
</div>
<p class="quiet">You have an account already? <a href="/sign-in?next=/invite/${view.token}">Sign in first</a>.</p>`,
  )
}

export function colleaguePage(view: InviteView, name: string, csrfToken: string, problem: string | null): Html {
  return page(
    { title: `Join ${view.workspaceName}` },
    html`<div class="card">
<h1>Join ${view.workspaceName}</h1>
<p class="quiet who">You are signed in as ${name}, and are invited as ${view.role}.</p>
${problemLine(problem)}
<form method="post" action="/invite/${view.token}">
<input type="hidden" name="csrf" value="${csrfToken}">
<button autofocus>Join</button>
</form>
</div>`,
  )
}
