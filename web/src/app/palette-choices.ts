import { useMantineColorScheme } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { SavedFilter } from '../data/saved-filters.ts'
import { useMemberList } from '../data/team/members.ts'
import { currentSession, hasRole, signOut } from '../session/session.ts'
import { memberAnchor, openSections } from '../settings/sections.ts'
import { chooseLanguage, language, t } from '../text/index.ts'
import { type Language, languages } from '../text/languages.ts'
import { showError } from '../ui/overlay/toasts.tsx'
import { activeShortcuts, keySequence } from '../ui/shortcuts.ts'
import { newHash } from '../ui/use-create.ts'
import { navItems } from './nav-items.ts'
import { actionKeywords, pageKeywords, sectionKeywords } from './palette-keywords.ts'
import { findMatches, type Named } from './palette-match.ts'

export interface Choice extends Named {
  id: string
  group: string
  hint?: string
  keys?: string
  run(): void
}

type GoTo = (place: string, hash?: string) => void

/** Returns the choices on every page: shortcuts of the page, pages, settings, actions and other workspaces. */
export function useFixedChoices(
  workspaceId: string,
  views: readonly SavedFilter[] | undefined,
  showKeys: () => void,
): Choice[] {
  const navigate = useNavigate()
  const { setColorScheme } = useMantineColorScheme()
  const [active] = useState(activeShortcuts)
  const { palette, keys } = t.common
  const goTo: GoTo = (place, hash) =>
    void navigate(
      hash === undefined ? { href: `/w/${workspaceId}/${place}` } : { to: `/w/${workspaceId}/${place}`, hash },
    )
  const action = (id: string, label: string, keywords: string, run: () => void, key?: string): Choice => ({
    id: `action ${id}`,
    group: palette.actions,
    label,
    keywords,
    run,
    ...(key !== undefined && { keys: key }),
  })
  const here = active
    .filter(({ group }) => group !== keys.everywhere)
    .map((one) => ({ ...action(one.keys, one.label, '', one.run, one.keys), group: palette.here }))
  const bellKey = keySequence('g', 'n')
  const bell = active.find((one) => one.keys === bellKey)
  const known = new Set(here.map(({ label }) => label))
  const elsewhere = [
    ...pageActions(workspaceId, goTo).map(({ id, label, run }) => action(id, label, actionKeywords[id], run)),
    ...(bell === undefined ? [] : [action('bell', t.common.notifications, actionKeywords.bell, bell.run, bellKey)]),
    action('notices', t.notifications.toSettings, actionKeywords.notices, () => goTo('profile', 'notifications')),
    ...(['light', 'dark', 'auto'] as const).map((one) =>
      action(one, palette.appearance({ word: t.common.appearances[one] }), actionKeywords[one], () =>
        setColorScheme(one),
      ),
    ),
    ...(Object.keys(languages) as Language[])
      .filter((one) => one !== language)
      .map((one) =>
        action(one, palette.language({ name: languages[one] }), actionKeywords.language, () => chooseLanguage(one)),
      ),
    action('keys', keys.open, actionKeywords.keys, showKeys, '?'),
    action('docs', t.home.reference, actionKeywords.docs, () => window.open('/docs', '_blank', 'noreferrer')),
    action('signOut', t.common.signOut, actionKeywords.signOut, () => void signOut().catch(showError)),
  ].filter(({ label }) => !known.has(label))
  return [
    ...here,
    ...pages(workspaceId, goTo),
    ...viewsOf(views ?? [], goTo),
    ...elsewhere,
    ...settings(workspaceId, goTo),
    ...others(workspaceId, navigate),
  ]
}

const maxPeople = 6

/** Returns members by name or e-mail; each opens the member list, which shows roles. Empty without a term. */
export function usePeopleChoices(workspaceId: string, term: string): Choice[] {
  const navigate = useNavigate()
  const members = useMemberList(workspaceId)
  const people = members.map(({ userId, name, email }) => ({
    id: `member ${userId}`,
    group: t.settings.sections.members.title,
    label: name,
    keywords: email,
    hint: email,
    run: () => void navigate({ to: `/w/${workspaceId}/settings/members`, hash: memberAnchor(userId) }),
  }))
  return term === '' ? [] : findMatches(people, term).slice(0, maxPeople)
}

interface PageAction {
  id: keyof typeof actionKeywords
  label: string
  run(): void
}

/** Returns the actions of other pages: opens the page and runs the action. */
function pageActions(workspaceId: string, goTo: GoTo): PageAction[] {
  const { inbox, leads, forms, keys, webhooks, connections, common } = t
  const go = (id: PageAction['id'], label: string, place: string, hash?: string): PageAction => ({
    id,
    label,
    run: () => goTo(place, hash),
  })
  const createAction = (id: PageAction['id'], label: string, place: string) => go(id, label, place, newHash)
  return [
    createAction('conversation', inbox.start, 'inbox'),
    createAction('lead', leads.create, 'leads'),
    go('import', leads.importLeads, 'leads/import'),
    ...(hasRole(workspaceId, 'owner') ? [go('export', leads.exportLeads, 'leads/export')] : []),
    go('board', `${leads.title}: ${leads.board}`, 'leads?view=board'),
    go('trash', `${leads.title}: ${leads.trash}`, 'leads?view=trash'),
    ...(hasRole(workspaceId, 'admin')
      ? [
          go('form', forms.create, 'forms/new'),
          createAction('connection', connections.add, 'connections'),
          createAction('key', keys.create, 'keys'),
          go('agent', keys.connect.title, 'keys/connect'),
          createAction('webhook', webhooks.create, 'webhooks'),
          go('invite', common.palette.invite, 'settings/members'),
        ]
      : []),
  ]
}

function pages(workspaceId: string, goTo: GoTo): Choice[] {
  const { palette, pages } = t.common
  const open = navItems.filter(({ role }) => hasRole(workspaceId, role))
  return [
    ...open.map(({ path, title, key }) => ({
      id: `page ${path}`,
      group: palette.pages,
      label: title(),
      keywords: pageKeywords[path] ?? '',
      keys: `g ${key}`,
      run: () => goTo(path),
    })),
    {
      id: 'page profile',
      group: palette.pages,
      label: pages.profile,
      keywords: pageKeywords.profile ?? '',
      run: () => goTo('profile'),
    },
  ]
}

/** Returns own and shared views of leads and filters of the inbox. */
const viewsOf = (views: readonly SavedFilter[], goTo: GoTo): Choice[] =>
  views.map(({ id, page, name, query }) => ({
    id: `view ${id}`,
    group: t.settings.sections.filters.title,
    label: name,
    hint: t.common.pages[page],
    run: () => goTo(`${page}?${query}${page === 'leads' ? `&saved=${id}` : ''}`),
  }))

const settings = (workspaceId: string, goTo: GoTo): Choice[] =>
  openSections(workspaceId).map(({ name }) => ({
    id: `section ${name}`,
    group: t.settings.title,
    label: t.settings.sections[name].title,
    keywords: sectionKeywords[name],
    run: () => goTo(`settings/${name}`),
  }))

const others = (workspaceId: string, navigate: ReturnType<typeof useNavigate>): Choice[] =>
  currentSession()
    .workspaces.filter(({ id }) => id !== workspaceId)
    .map(({ id, name }) => ({
      id: `workspace ${id}`,
      group: t.common.palette.workspaces,
      label: name,
      run: () => void navigate({ to: '/w/$workspaceId/home', params: { workspaceId: id } }),
    }))
