use std::sync::LazyLock;

use super::answer::{self, Place};
use super::cx::Cx;
use super::families::{self, Evidence, Family, First, Found};
use super::fence;
use super::openers::{self, Opener};

/// The formats that have no opener, with what each may begin with.
static SHAPES: LazyLock<Vec<(&'static Family, First)>> = LazyLock::new(|| {
    let shape = |family: &'static Family| match family.evidence {
        Evidence::Weak(first) => Some((family, first)),
        Evidence::Strong | Evidence::Tag | Evidence::Channel => None,
    };
    families::all().filter_map(shape).collect()
});

/// What text at the start of a line turned out to be.
pub(super) enum Weak {
    /// Calls; they were given out.
    Calls,
    /// What looks like calls up to this place, but more text follows, so it only shows them.
    Text(usize),
    /// Nothing of the kind.
    No,
}

/// Reads calls that prove themselves only by their shape and place: nothing may follow them but more calls.
pub(super) async fn read(cx: &mut Cx, from: usize) -> Weak {
    if is_ordinary(cx) {
        return Weak::No;
    }
    cx.may_stream = false;
    let byte = cx.peek().await;
    // What begins with an opener is read as what that begins.
    if byte.is_some_and(openers::may_begin) && openers::here(cx).await.is_some() {
        return Weak::No;
    }
    let Some((family, found)) = by_shape(cx).await else { return Weak::No };
    // A block that says that no tool is needed says nothing; what follows it is the answer.
    if found.calls.is_empty() {
        cx.drop_from(from);
        return Weak::Calls;
    }
    if cx.profile.prompted {
        answer::give(cx, from, found.calls, family.name);
        answer::trailer(cx).await;
        cx.skip_said();
        further(cx).await;
        return Weak::Calls;
    }
    follow(cx, from, family, found, None).await
}

/// Whether the line is known to begin with a word and a blank or a mark that no shape begins with: the way of most lines, told
/// from what is known already. The first word of all text may still be a name that stands alone.
fn is_ordinary(cx: &Cx) -> bool {
    let line = cx.rest().as_bytes();
    let word = line.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let follows = line.get(word).copied();
    cx.spoke && word > 0 && !line.starts_with(b"Action") && matches!(follows, Some(b' ' | b',' | b'\''))
}

/// Calls of a strong format within code: the same rule of place holds for them.
pub(super) async fn guarded(
    cx: &mut Cx,
    from: usize,
    place: &Place,
    family: &'static Family,
    found: Found,
) -> bool {
    match follow(cx, from, family, found, place.fence.as_ref()).await {
        Weak::Calls => true,
        Weak::Text(_) | Weak::No => false,
    }
}

async fn follow(
    cx: &mut Cx,
    from: usize,
    family: &'static Family,
    found: Found,
    fence: Option<&fence::Fence>,
) -> Weak {
    let mut units = vec![(family, found)];
    let mut fence = fence;
    loop {
        let after = cx.at();
        answer::trailer(cx).await;
        separators(cx).await;
        if let Some(open) = fence
            && fence::close(cx, open).await
        {
            fence = None;
            separators(cx).await;
        }
        let over = cx.is_over().await;
        if cx.is_choked() {
            return Weak::No;
        }
        if over {
            break;
        }
        match unit(cx).await {
            Some(next) => units.push(next),
            None => return Weak::Text(after),
        }
    }
    for (family, found) in units {
        answer::give(cx, from, found.calls, family.name);
    }
    cx.skip_said();
    Weak::Calls
}

/// Calls right behind a call, with a comma or a semicolon between them that is no text.
async fn further(cx: &mut Cx) {
    loop {
        let after = cx.at();
        separators(cx).await;
        let separated = !cx.slice(after, cx.at()).trim().is_empty();
        let next = if separated { unit(cx).await } else { None };
        let Some((family, found)) = next else {
            cx.rewind(after);
            return;
        };
        answer::give(cx, after, found.calls, family.name);
    }
}

async fn separators(cx: &mut Cx) {
    loop {
        cx.blanks().await;
        if !matches!(cx.peek().await, Some(b';' | b',')) {
            return;
        }
        cx.advance(1);
    }
}

/// One or more calls at the cursor, in any format.
async fn unit(cx: &mut Cx) -> Option<(&'static Family, Found)> {
    cx.may_stream = false;
    let byte = cx.peek().await?;
    if openers::may_begin(byte)
        && let Some((opener, length)) = openers::here(cx).await
    {
        return match opener {
            Opener::Call(which) => answer::read_opener(cx, which, length).await,
            Opener::Think(_) | Opener::Unthink(_) => None,
        };
    }
    by_shape(cx).await
}

async fn by_shape(cx: &mut Cx) -> Option<(&'static Family, Found)> {
    if cx.is_tired() {
        return None;
    }
    let from = cx.at();
    let byte = cx.peek().await?;
    for (family, first) in SHAPES.iter() {
        if !first.may_be(byte) {
            continue;
        }
        cx.rewind(from);
        if let Some(found) = (family.read)(cx).await
            && (found.given || !found.calls.is_empty())
            && found.calls.iter().all(|call| cx.tool(&call.name).is_some())
        {
            return Some((family, found));
        }
    }
    None
}
