import type { ReactElement } from 'react';
import type { Node } from '../generated/protocol';
import { credentialName } from '../shared/credentials';
import { Icon } from '../shared/icons';

/** The name is all there is to show: nobody here knows the value. */
export function CredentialNote({ node }: { node: Node }): ReactElement | null {
  if (!node.credentials) return null;
  const name = credentialName(node.credentials);
  return (
    <div className="credential" role="note" data-testid="credential">
      <Icon name="key" />
      <div className="credential-text">
        <p className="credential-name">
          Credential <code title={name}>{name}</code>
        </p>
        <p>Its value is looked up when the call is made, and is never recorded.</p>
      </div>
    </div>
  );
}
