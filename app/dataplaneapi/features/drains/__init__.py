"""Operations that drain servers, or end old workers of HAProxy, in the background."""
