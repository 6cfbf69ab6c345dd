import { type Html, html } from '../../base/html.ts'
import { page } from './layout.ts'

export interface HomeView {
  name: string
  csrfToken: string
  publicUrl: string
  workspaces: HomeWorkspace[]
}

export interface HomeWorkspace {
  id: string
  name: string
  /** Null for an operator who is no member of it. */
  role: string | null
  forms: { title: string; path: string }[]
}

export function homePage(view: HomeView): Html {
  const signOut = html`<form method="post" action="/sign-out">
<input type="hidden" name="csrf" value="${view.csrfToken}"><button class="plain">Sign out</button></form>`
  return page(
    { title: 'Home', aside: signOut, wide: true },
    html`<div class="card">
<h1>Hello, ${view.name}</h1>
<p class="quiet">The interfaces of this installation, and what is in it.</p>
<ul>
<li><a href="/docs">Reference</a> <span class="quiet">every request, with examples to try</span></li>
<li><a href="/openapi.json">OpenAPI document</a> <span class="quiet">for generators and tools</span></li>
<li><a href="/postman.json">Postman collection</a> <span class="quiet">ready to import</span></li>
</ul>
</div>`,
    workspaceCard(view.workspaces),
    formCard(view.workspaces),
    view.workspaces.slice(0, 1).map((workspace) => keyCard(view.publicUrl, workspace)),
  )
}

function workspaceCard(workspaces: HomeWorkspace[]): Html {
  if (workspaces.length === 0) {
    return html`<div class="card"><h2>Workspaces</h2><p class="quiet">You are in no workspace yet. Ask for an invitation.</p></div>`
  }
  return html`<div class="card">
<h2>Workspaces</h2>
<table>
<thead><tr><th>Name</th><th>Your role</th><th>Id</th></tr></thead>
<tbody>${workspaces.map(
    ({ name, role, id }) => html`<tr><td>${name}</td><td>${role ?? 'operator'}</td><td><code>${id}</code></td></tr>`,
  )}</tbody>
</table>
</div>`
}

function formCard(workspaces: HomeWorkspace[]): Html | null {
  const forms = workspaces.flatMap((workspace) => workspace.forms)
  if (forms.length === 0) return null
  return html`<div class="card">
<h2>Lead forms</h2>
<ul>${forms.map(({ title, path }) => html`<li><a href="${path}">${title}</a> <span class="quiet">${path}</span></li>`)}</ul>
</div>`
}

function keyCard(publicUrl: string, { id }: HomeWorkspace): Html {
  const command = [
    'curl -X POST \\',
    `  ${publicUrl}/api/team/v1/workspaces/${id}/keys \\`,
    '  -H "Authorization: Bearer $PARLEY_TEAM_TOKEN" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '{"name": "My agent", "scopes": ["leads.read", "leads.write"]}'`,
  ].join('\n')
  return html`<div class="card">
<h2>Make an API key</h2>
<p>Programs and AI agents come in with a key. The answer shows its value once.</p>
<pre>${command}</pre>
<p class="quiet">The team token is the setting <code>PARLEY_TEAM_TOKEN</code> of the server, or one that an owner has made.</p>
</div>`
}
