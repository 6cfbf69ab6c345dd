import { useMantineColorScheme } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { mayIn, type Role, signOut } from '../session/session.ts'
import { chooseLanguage, type Language, language, languages, t } from '../text/index.ts'
import { complain } from '../ui/overlay/notices.tsx'
import { newHash } from '../ui/use-making.ts'

export interface Choice {
  id: string
  group: string
  label: string
  /** Other words that it is looked for by. */
  words?: string
  hint?: string
  keys?: string
  run(): void
}

/** What can be done from anywhere: make something, look otherwise, speak otherwise, leave. */
export function useActions(workspaceId: string): Choice[] {
  const navigate = useNavigate()
  const { setColorScheme } = useMantineColorScheme()
  const { palette } = t.common
  const action = (id: string, label: string, words: string, run: () => void): Choice => ({
    id: `do ${id}`,
    group: palette.actions,
    label,
    words,
    run,
  })
  const going = (to: string, label: string, role: Role, hash?: string): Choice[] =>
    mayIn(workspaceId, role)
      ? [
          action(
            to,
            label,
            palette.words.make,
            () => void navigate({ to: `/w/${workspaceId}/${to}`, ...(hash && { hash }) }),
          ),
        ]
      : []
  return [
    ...going('leads', t.leads.create, 'member', newHash),
    ...going('connections', t.connections.add, 'admin', newHash),
    ...going('keys', t.keys.make, 'admin', newHash),
    ...going('webhooks', t.webhooks.make, 'admin', newHash),
    ...going('leads/import', t.leads.importLeads, 'member'),
    ...going('leads/export', t.leads.exportLeads, 'owner'),
    ...(['light', 'dark', 'auto'] as const).map((one) =>
      action(one, `${t.common.appearance}: ${t.common.appearances[one]}`, palette.words.looks[one], () =>
        setColorScheme(one),
      ),
    ),
    ...(Object.keys(languages) as Language[])
      .filter((one) => one !== language)
      .map((one) =>
        action(one, `${t.common.language}: ${languages[one]}`, palette.words.languages[one], () => chooseLanguage(one)),
      ),
    action('leave', t.common.signOut, palette.words.leave, () => void signOut().catch(complain)),
  ]
}
