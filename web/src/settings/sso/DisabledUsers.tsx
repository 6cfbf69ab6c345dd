import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { disabledUsersKey, enableUser, useDisabledUsers } from '../../data/team/sso.ts'
import { t } from '../../text/index.ts'
import { formatDateTime } from '../../ui/format/time.ts'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { Table } from '../../ui/page/Table.tsx'

/** Accounts that a provider has switched off; renders nothing without any. */
export function DisabledUsers() {
  const texts = t.settings.sso.disabledUsers
  const { data: users = [] } = useDisabledUsers()
  const queries = useQueryClient()
  if (users.length === 0) return null
  const enable = ({ name, email }: (typeof users)[number]) =>
    enableUser(email).then(() => {
      showToast(texts.enabled({ name }))
      return queries.invalidateQueries({ queryKey: disabledUsersKey })
    }, showError)
  return (
    <Section title={texts.title} help={texts.help}>
      <Table
        label={texts.title}
        rows={users}
        keyOf={({ id }) => id}
        columns={[
          { key: 'person', title: t.settings.sso.name, cell: ({ name }) => name },
          { key: 'email', title: t.settings.members.email, cell: ({ email }) => email },
          { key: 'at', title: texts.since, cell: ({ disabledAt }) => formatDateTime(disabledAt), optional: true },
          {
            key: 'enable',
            title: '',
            numeric: true,
            cell: (user) => (
              <Button
                size="compact-sm"
                variant="subtle"
                aria-label={texts.enableOf({ name: user.name })}
                onClick={() => void enable(user)}
              >
                {texts.enable}
              </Button>
            ),
          },
        ]}
      />
    </Section>
  )
}
