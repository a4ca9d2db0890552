"""Operations that list the references to an object, and rename the object together with them."""
