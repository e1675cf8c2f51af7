import javax.servlet.http.*;
import org.apache.commons.beanutils.BeanUtils;

class Register extends HttpServlet {
    protected void doPost(HttpServletRequest request, HttpServletResponse response) {
        User user = new User();
        try {
            // ruleid: mass-assignment
            BeanUtils.populate(user, request.getParameterMap());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
