import { type Html, html } from '../../base/html.ts'
import { page, problemLine } from './layout.ts'

/** `next` is where to go afterwards. */
export function signInPage(next: string, email: string, problem: string | null): Html {
  return page(
    { title: 'Sign in' },
    html`<div class="card">
<h1>Sign in</h1>
<p class="quiet">With the e-mail and password of your Parley account.</p>
${problemLine(problem)}
<form method="post" action="/sign-in">
<input type="hidden" name="next" value="${next}">
<label>E-mail
<input type="email" name="email" value="${email}" autocomplete="username" required maxlength="254"${email === '' && html` autofocus`}></label>
<label>Password
<input type="password" name="password" autocomplete="current-password" required maxlength="256"${email !== '' && html` autofocus`}></label>
<button>Sign in</button>
</form>
</div>
<p class="quiet">Forgotten your password? Ask whoever runs this installation for a sign-in link.</p>`,
  )
}

export function codePage(next: string, challenge: string, problem: string | null): Html {
  return page(
    { title: 'Enter your code' },
    html`<div class="card">
<h1>Enter your code</h1>
<p class="quiet">Your account asks for a second step.</p>
${problemLine(problem)}
<form method="post" action="/sign-in/code">
<input type="hidden" name="next" value="${next}">
<input type="hidden" name="challenge" value="${challenge}">
<label>Code
<input name="code" inputmode="numeric" autocomplete="one-time-code" required maxlength="40" autofocus>
<small>Six digits from your authenticator, or one of your recovery codes.</small></label>
<button>Sign in</button>
</form>
</div>
<p><a href="/sign-in">Start again</a></p>`,
  )
}

/** Opening the link changes nothing: mail programs open links to look at them. The button uses it up. */
export function linkPage(token: string): Html {
  return page(
    { title: 'Sign in' },
    html`<div class="card">
<h1>Welcome to Parley</h1>
<p class="quiet">This link signs you in once. It then stops working.</p>
<form method="post" action="/sign-in/${token}">
<button autofocus>Sign in</button>
</form>
</div>`,
  )
}

export function linkOverPage(): Html {
  return problemPage('This link no longer works', 'It was used already, or it is too old. Ask for a new one.')
}

export function problemPage(title: string, text: string): Html {
  return page(
    { title },
    html`<div class="card">
<h1>${title}</h1>
<p class="quiet">${text}</p>
<p><a href="/sign-in">Sign in with your password</a></p>
</div>`,
  )
}
