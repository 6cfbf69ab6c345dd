import { type Html, html } from '../../../base/text/html.ts'
import { page, problemLine } from './layout.ts'
import type { Words } from './words.ts'

/** `next` is where to go afterwards. */
export function signInPage(words: Words, next: string, email: string, problem: string | null): Html {
  return page(
    { title: words.signIn, words },
    html`<div class="card">
<h1>${words.signIn}</h1>
<p class="quiet">${words.signInHelp}</p>
${problemLine(problem)}
<form method="post" action="/sign-in">
<input type="hidden" name="next" value="${next}">
<label>${words.email}
<input type="email" name="email" value="${email}" autocomplete="username" required maxlength="254"${email === '' && html` autofocus`}></label>
<label>${words.password}
<input type="password" name="password" autocomplete="current-password" required maxlength="256"${email !== '' && html` autofocus`}></label>
<button>${words.signIn}</button>
</form>
</div>
<p class="quiet">${words.forgotten}</p>`,
  )
}

export function codePage(words: Words, next: string, challenge: string, problem: string | null): Html {
  return page(
    { title: words.enterCode, words },
    html`<div class="card">
<h1>${words.enterCode}</h1>
<p class="quiet">${words.enterCodeHelp}</p>
${problemLine(problem)}
<form method="post" action="/sign-in/code">
<input type="hidden" name="next" value="${next}">
<input type="hidden" name="challenge" value="${challenge}">
<label>${words.code}
<input name="code" inputmode="numeric" autocomplete="one-time-code" required maxlength="40" autofocus>
<small>${words.codeHelp}</small></label>
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
export function choosePasswordPage(words: Words, email: string, csrfToken: string, problem: string | null): Html {
  return page(
    { title: words.choosePassword, words },
    html`<div class="card">
<h1>${words.choosePassword}</h1>
<p class="quiet">${words.choosePasswordHelp}</p>
${problemLine(problem)}
<form method="post" action="/choose-password">
<input type="hidden" name="csrf" value="${csrfToken}">
<label>${words.email}
<input type="email" name="username" value="${email}" autocomplete="username" readonly>
<small>${words.emailHelp}</small></label>
<label>${words.password}
<input type="password" name="password" autocomplete="new-password" required minlength="12" maxlength="256" autofocus>
<small>${words.passwordHelp}</small></label>
<button>${words.setPassword}</button>
</form>
</div>
<p><a href="/">${words.later}</a></p>`,
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
