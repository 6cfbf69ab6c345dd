import { Radio, Stack } from '@mantine/core'
import { roleValues } from '../../api/schema.ts'
import { hasRole, type Role } from '../../session/session.ts'
import { t } from '../../text/index.ts'

/** Returns the roles that the signed-in person may assign: only owners can assign owner. */
export const rolesFor = (workspaceId: string): Role[] =>
  roleValues.filter((role) => role !== 'owner' || hasRole(workspaceId, role))

interface RoleFieldProps {
  label: string
  roles: readonly Role[]
  value: Role
  change(role: Role): void
}

/** Choice of a role, with what each may do. */
export const RoleField = ({ label, roles, value, change }: RoleFieldProps) => (
  <Radio.Group label={label} value={value} onChange={(role) => change(role as Role)}>
    <Stack gap={10} mt={6}>
      {roles.map((role) => (
        <Radio key={role} value={role} label={t.settings.roles[role]} description={t.settings.roleHelp[role]} />
      ))}
    </Stack>
  </Radio.Group>
)
