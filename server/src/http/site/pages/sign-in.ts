import { type Html, html } from '../../../base/text/html.ts'
import { fieldOfForm, type Problem, page, problemLine } from './layout.ts'
import type { Words } from './words.ts'

/** `next` is where to go afterwards. */
export function signInPage(words: Words, next: string, email: string, problem: Problem): Html {
  return page(
    { title: words.signIn, words },
    html`<div class="card">
<h1>${words.signIn}</h1>
<p class="quiet">${words.signInHelp}</p>
${problemLine(problem)}
<form method="post" novalidate action="/sign-in">
<input type="hidden" name="next" value="${next}">
${fieldOfForm(
  {
    name: 'email',
    label: words.email,
    attributes: html` type="email" value="${email}" autocomplete="username" maxlength="254"`,
    isFirst: email === '',
  },
  problem,
)}
${fieldOfForm(
  {
    name: 'password',
    label: words.password,
    attributes: html` type="password" autocomplete="current-password" maxlength="256"`,
    isFirst: email !== '',
  },
  problem,
)}
<button>${words.signIn}</button>
</form>
</div>
<p class="quiet">${words.forgotten}</p>`,
  )
}

export function codePage(words: Words, next: string, challenge: string, problem: Problem): Html {
  return page(
    { title: words.enterCode, words },
    html`<div class="card">
<h1>${words.enterCode}</h1>
<p class="quiet">${words.enterCodeHelp}</p>
${problemLine(problem)}
<form method="post" novalidate action="/sign-in/code">
<input type="hidden" name="next" value="${next}">
<input type="hidden" name="challenge" value="${challenge}">
${fieldOfForm(
  {
    name: 'code',
    label: words.code,
    attributes: html` inputmode="numeric" autocomplete="one-time-code" maxlength="40"`,
    help: words.codeHelp,
    isFirst: true,
  },
  problem,
)}
<button>${words.signIn}</button>
</form>
</div>
<p><a href="/sign-in">${words.startAgain}</a></p>`,
  )
}

/** Opening the link changes nothing: mail programs open links to look at them. The button uses it up. */
export function linkPage(words: Words, token: string): Html {
  return page(
    { title: words.signIn, words },
    html`<div class="card">
<h1>${words.welcome}</h1>
<p class="quiet">${words.linkHelp}</p>
<form method="post" action="/sign-in/${token}">
<button autofocus>${words.signIn}</button>
</form>
</div>`,
  )
}

/** After a link, for who has no password yet. To go on without one is a link, not a button. */
export function choosePasswordPage(words: Words, email: string, csrfToken: string, problem: Problem): Html {
  return page(
    { title: words.choosePassword, words },
    html`<div class="card">
<h1>${words.choosePassword}</h1>
<p class="quiet">${words.choosePasswordHelp}</p>
${problemLine(problem)}
<form method="post" novalidate action="/choose-password">
<input type="hidden" name="csrf" value="${csrfToken}">
${fieldOfForm(
  {
    name: 'username',
    label: words.email,
    attributes: html` type="email" value="${email}" autocomplete="username" readonly`,
    help: words.emailHelp,
  },
  problem,
)}
${newPasswordField(words, problem, true)}
<button>${words.setPassword}</button>
</form>
</div>
<p><a href="/">${words.later}</a></p>`,
  )
}

/** A browser's own message would cover the help, and speak of something else than we do: the service checks, and says it here. */
export function newPasswordField(words: Words, problem: Problem, isFirst: boolean): Html {
  const attributes = html` type="password" autocomplete="new-password" maxlength="256"`
  return fieldOfForm(
    { name: 'password', label: words.password, attributes, help: words.passwordHelp, isFirst },
    problem,
  )
}

export function linkOverPage(words: Words): Html {
  return problemPage(words, words.linkOver, words.linkOverHelp)
}

export function problemPage(words: Words, title: string, text: string): Html {
  return page(
    { title, words },
    html`<div class="card">
<h1>${title}</h1>
<p class="quiet">${text}</p>
<p><a href="/sign-in">${words.withPassword}</a></p>
</div>`,
  )
}
