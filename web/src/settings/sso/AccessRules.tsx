import { ActionIcon, Button, Group, Input, Select, Stack, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { roleValues } from '../../api/schema.ts'
import type { AccessRule } from '../../data/team/sso.ts'
import { useAllWorkspaces } from '../../data/workspace.ts'
import type { Role } from '../../session/session.ts'
import { t } from '../../text/index.ts'
import type { Draft } from '../../ui/use-draft.ts'

/** A rule as typed; an empty group stands for everyone. */
export type RuleDraft = Omit<AccessRule, 'group'> & { group: string }

/** Rows that give roles in workspaces. */
export function AccessRules({ draft }: { draft: Draft<{ access: RuleDraft[] } & object> }) {
  const texts = t.settings.sso
  const { data: workspaces = [] } = useAllWorkspaces()
  const { access } = draft.value
  const change = (at: number, changes: Partial<RuleDraft>) =>
    draft.set({ access: access.map((rule, index) => (index === at ? { ...rule, ...changes } : rule)) })
  return (
    <Input.Wrapper
      label={texts.access}
      labelElement="div"
      description={texts.accessHelp}
      error={draft.errorOf('access')}
    >
      <Stack gap="xs" mt={6}>
        {access.map((rule, at) => (
          // Rows have no identity of their own.
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows are edited in place
          <Group key={at} gap={6} align="flex-end" wrap="nowrap">
            <TextInput
              flex={1}
              label={texts.group}
              placeholder={texts.everyone}
              value={rule.group}
              maxLength={200}
              onChange={(event) => change(at, { group: event.currentTarget.value })}
            />
            <Select
              flex={1}
              label={texts.workspace}
              data={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
              value={rule.workspaceId}
              onChange={(id) => change(at, { workspaceId: id ?? rule.workspaceId })}
              allowDeselect={false}
            />
            <Select
              flex={1}
              label={texts.role}
              data={roleValues.map((role) => ({ value: role, label: t.settings.roles[role] }))}
              value={rule.role}
              onChange={(role) => change(at, { role: (role ?? rule.role) as Role })}
              allowDeselect={false}
            />
            <ActionIcon
              variant="subtle"
              color="red"
              size="lg"
              aria-label={texts.removeRule({ n: at + 1 })}
              onClick={() => draft.set({ access: access.filter((_, index) => index !== at) })}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </Group>
        ))}
        <Button
          variant="default"
          leftSection={<IconPlus size={16} />}
          disabled={workspaces.length === 0}
          onClick={() =>
            draft.set({ access: [...access, { group: '', workspaceId: workspaces[0]?.id ?? '', role: 'member' }] })
          }
        >
          {texts.addRule}
        </Button>
      </Stack>
    </Input.Wrapper>
  )
}
